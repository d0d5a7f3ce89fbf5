// Mutants: the model with exactly one rule broken. A conformance test that no mutant fails is not a test.
//
// The table is the only place that names them; code asks is<"nak-twice">(), which does not compile
// for a name that is not in the table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dissect/field.h"

namespace rdmascope::replay {

struct MutantInfo {
  std::string_view name;    // "nak-twice"; stable, `--dut model:mutant=NAME`
  std::string_view breaks;  // rule of ib-wire.md section 6, or a section of it
  std::string_view what;    // one sentence
};

inline constexpr MutantInfo mutants[] = {
    // Requester: what completes, and when.
    {"complete-early", "C-01", "A READ completes with its First or Middle response."},
    {"complete-out-of-order", "C-02", "A READ completes although an earlier READ still waits for its responses."},
    {"complete-at-once", "C-01", "A SEND or WRITE completes when it is sent, before any acknowledge."},
    {"complete-on-partial-ack", "C-01", "A SEND or WRITE completes when its first packet is acknowledged."},
    {"complete-read-on-plain-ack", "R-05", "A READ completes on a plain ACK."},
    {"complete-atomic-on-plain-ack", "R-05", "An atomic completes on a plain ACK."},
    {"ignore-missing-middle", "C-03", "A READ completes although a response in the middle is missing."},
    {"accept-repeated-psn", "R-02", "A READ response with a PSN used before is taken as the next one."},
    {"accept-ack-ahead", "R-04", "An ACK of a PSN that was never sent completes everything."},
    {"accept-nak-in-response", "R-03", "A READ response with a NAK syndrome is taken as a good one."},
    {"accept-short-response", "L-01", "A READ response of the wrong length is taken as a good one."},
    {"accept-response-position", "L-05", "A READ response First, Middle, Last or Only is taken wherever it stands."},
    {"response-wrong-place", "C-06", "READ data lands 4 bytes behind its place."},
    {"atomic-result-wire-order", "4.2", "The result of an atomic is stored in wire order instead of the machine's."},
    {"flush-as-success", "C-04", "What is outstanding at the end completes as success."},
    {"no-flush-completion", "C-04", "What is outstanding at the end does not complete at all."},
    {"unsignaled-error-silent", "C-05", "An unsignaled request that fails does not complete."},
    {"unsignaled-completes", "C-05", "An unsignaled request completes when it succeeds."},
    {"nak-wrong-status", "4.4", "NAK Remote Access Error completes the request as Remote Operational Error."},
    // Requester: what it sends.
    {"read-takes-one-psn", "Q-02", "A READ takes one PSN whatever it asks for."},
    {"atomic-takes-two-psns", "Q-03", "An atomic takes two PSNs."},
    {"psn-no-wrap", "Q-01", "PSNs of requests stay at 0xffffff instead of going on with 0."},
    {"exceed-initiator-depth", "Q-08", "More READs and atomics are outstanding than agreed on."},
    {"ignore-fence", "Q-16", "A fenced request does not wait for earlier READs and atomics."},
    {"ignore-credits", "Q-17", "SENDs do not wait for the credits of the responder."},
    {"no-ack-request", "Q-15", "No packet asks for an acknowledge."},
    {"solicited-everywhere", "Q-14", "Every packet of a solicited message has SE set."},
    {"short-first", "L-01", "First and Middle packets carry 4 bytes less than the path MTU."},
    {"dmalen-off-by-one", "L-04", "RETH tells one byte more than is meant."},
    {"wrong-immediate", "C-06", "Immediate data is sent with its bytes turned around."},
    {"atomic-operands-swapped", "2.4", "Compare and swap values of an atomic change places."},
    {"ud-privileged-q-key", "U-04", "A Q_Key with bit 31 set is sent as posted instead of the queue pair's own."},
    {"ud-oversize-sent", "L-10", "A UD message larger than the port's MTU is sent, cut down to it."},
    {"wrong-pad", "F-10", "The pad count of a packet that needs none is 1."},
    {"pad-not-zero", "F-11", "Pad bytes are 0xff."},
    {"wrong-icrc", "F-01", "The ICRC has one bit flipped."},
    {"reserved-bits-set", "F-12", "Reserved bits of BTH are set."},
    {"tver-one", "F-06", "BTH says transport version 1."},
    {"wrong-p-key", "F-13", "Packets carry another P_Key than the connection's."},
    // Requester: when something goes wrong.
    {"retransmit-although-timeout-0", "Q-13", "Requests are sent again after 1 ms although there is no timer."},
    {"timer-too-early", "Q-13", "Requests are sent again after a quarter of the acknowledge timeout."},
    {"no-retransmit", "Q-13", "The acknowledge timeout is ignored."},
    {"retry-endless", "Q-13", "Retries are not counted."},
    {"retry-new-content", "Q-06", "A SEND or WRITE sent again has another payload."},
    {"retry-only-first", "Q-06", "After a timeout or NAK only one packet is sent again."},
    {"read-retry-whole-length", "Q-07", "A READ retried for the rest asks for its whole length from there on."},
    {"resume-after-nak-plus-one", "Q-10", "After a sequence NAK sending resumes behind the PSN that is wanted."},
    {"ignore-sequence-nak", "Q-10", "A sequence NAK is ignored."},
    {"ignore-implied-nak", "R-05", "A later response does not make an unanswered READ go out again."},
    {"rnr-no-wait", "Q-11", "After an RNR NAK the request is sent again at once."},
    {"rnr-timer-wrong", "Q-11", "After an RNR NAK the request waits half of the time it was told."},
    {"rnr-retry-endless", "Q-12", "RNR retries are not counted."},
    {"rnr-gives-up", "Q-12", "The first RNR NAK is fatal."},
    {"continue-after-fatal-nak", "Q-18", "After a fatal NAK the request fails, but later ones are sent."},
    // Responder: the order of requests.
    {"nak-twice", "R-08", "Every packet behind a gap is answered with a NAK."},
    {"nak-wrong-psn", "R-08", "The NAK for a gap carries the PSN received instead of the one expected."},
    {"no-nak-on-gap", "R-08", "A gap is not answered."},
    {"accept-gap", "R-08", "A packet behind a gap is executed."},
    {"execute-duplicate-send", "R-12", "A duplicate SEND is executed again."},
    {"execute-duplicate-write", "R-12", "A duplicate WRITE is executed again."},
    {"execute-duplicate-atomic", "R-15", "A duplicate atomic is executed again."},
    {"no-reack-duplicate", "R-12", "A duplicate SEND or WRITE is not acknowledged."},
    {"reack-with-read-psn", "R-13",
     "A duplicate is acknowledged with the PSN before the expected one, whatever it was."},
    {"duplicate-read-any-range", "R-14", "A duplicate READ is answered whatever it asks for."},
    {"duplicate-read-dropped", "R-14", "A duplicate READ is not answered."},
    {"duplicate-atomic-dropped", "R-15", "A duplicate atomic is not answered."},
    {"accept-stray-middle", "Q-04", "A Middle or Last packet is executed although no message has begun."},
    {"accept-interleaved", "Q-04", "A message that begins before another has ended is executed."},
    {"accept-undefined-opcode", "F-07", "A request with an undefined opcode is acknowledged."},
    // Responder: what it answers.
    {"ack-psn-ahead", "R-04", "An ACK carries the PSN after the one it is for."},
    {"no-ack", "R-07", "AckReq is ignored."},
    {"msn-counts-packets", "R-17", "The MSN counts packets instead of messages."},
    {"msn-counts-duplicates", "R-17", "The MSN counts duplicates."},
    {"msn-not-counted-read", "R-17", "The MSN does not count READs."},
    {"msn-in-nak-counts-failed", "R-10", "The MSN of a fatal NAK counts the message that failed."},
    {"read-response-same-psn", "R-02", "All responses of a READ carry the PSN of the request."},
    {"aeth-on-middle", "R-03", "READ response Middle carries an AETH."},
    {"no-aeth-on-last", "R-03", "READ response Last carries no AETH."},
    {"nak-in-read-response", "R-03", "READ responses carry a NAK syndrome."},
    {"ack-before-read-response", "R-01", "An ACK overtakes the responses of an earlier READ."},
    {"read-response-wrong-data", "R-02", "The last byte of READ data is wrong."},
    {"read-response-short", "L-05", "READ response Last is one byte short."},
    {"zero-length-read-no-answer", "L-09", "A READ of no bytes is not answered."},
    {"zero-length-checks-key", "L-09", "A READ or WRITE of no bytes needs a valid R_Key."},
    {"atomic-plain-ack", "R-16", "An atomic is answered with a plain ACK."},
    {"response-asks-ack", "R-18", "Responses have AckReq set."},
    {"response-wrong-qp", "R-18", "Responses go to the queue pair next to the requester's."},
    {"continue-after-own-nak", "R-10", "The responder executes and answers requests after its fatal NAK."},
    {"no-fatal-nak", "4.4", "A request that is refused is not answered."},
    {"nak-wrong-code", "4.4", "Invalid Request and Remote Access Error change places in NAKs."},
    {"no-rnr-nak", "R-11", "A SEND that finds no receive buffer is dropped."},
    {"rnr-nak-on-read", "R-11", "A READ that finds no receive buffer posted is answered with an RNR NAK."},
    {"rnr-executes", "R-11", "A SEND answered with an RNR NAK counts as received."},
    {"rnr-nak-short-timer", "R-11", "RNR NAKs ask for the shortest time instead of the minimum set."},
    // Responder: what it lets happen.
    {"accept-bad-icrc", "F-01", "Packets with a wrong ICRC are taken."},
    {"accept-bad-p-key", "F-13", "Packets with another P_Key are taken."},
    {"accept-tver", "F-06", "Packets with an unknown transport version are taken."},
    {"accept-wrong-qp", "R-19", "Packets to an unknown queue pair go to the first one."},
    {"accept-bad-r-key", "R-20", "The R_Key is not looked at."},
    {"no-access-check", "R-20", "The address range is not looked at."},
    {"ignore-permissions", "R-20", "Operations that are not enabled on the queue pair are executed."},
    {"accept-wrong-length", "L-01", "Payload lengths of First, Middle and Last are not looked at."},
    {"accept-short-write", "L-04", "A WRITE of another length than its RETH tells is executed."},
    {"accept-long-send", "4.4", "A SEND longer than its receive buffer is cut and acknowledged."},
    {"accept-misaligned-atomic", "L-11", "An atomic at an address not divisible by 8 is executed."},
    {"invalidate-ignored", "2.4", "SEND with Invalidate leaves the R_Key valid."},
    {"write-wrong-place", "R-20", "WRITE data lands 4 bytes behind its place."},
    {"send-wrong-data", "C-06", "The first byte of a received message is wrong."},
    {"receive-length-wrong", "C-06", "A receive completes with the length of its last packet only."},
    {"immediate-not-delivered", "C-06", "Immediate data does not reach the completion."},
    {"receive-completes-twice", "C-06", "A receive completes twice."},
    {"atomic-wrong-sum", "R-16", "FetchAdd adds one too many."},
    {"atomic-wire-order", "R-16", "Atomics take the number in memory as big-endian."},
    {"atomic-compare-ignored", "R-16", "CmpSwap swaps without comparing."},
    {"atomic-returns-new", "R-16", "Atomics return the new value instead of the original one."},
    // UC and UD.
    {"uc-answers", "R-19", "A UC request is acknowledged."},
    {"uc-no-resync", "U-01", "After a gap UC takes no message until the missing PSN comes."},
    {"uc-accept-gap", "U-01", "UC completes a message in spite of a missing packet."},
    {"ud-accept-bad-q-key", "U-04", "UD takes packets with another Q_Key."},
    {"ud-length-without-grh", "U-05", "A UD receive completes without the 40 bytes for GRH in its length."},
};

// Number of a mutant; 0 is the correct model.
using Mutant = std::uint16_t;

// Of one list.
constexpr std::optional<Mutant> mutant_by_name(std::span<const MutantInfo> list, std::string_view name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return static_cast<Mutant>(i + 1);
  return std::nullopt;
}
constexpr std::optional<Mutant> mutant_by_name(std::string_view name) { return mutant_by_name(mutants, name); }

template <dissect::Name name>
consteval Mutant mutant_in(std::span<const MutantInfo> list) {
  const std::optional<Mutant> number = mutant_by_name(list, name.view());
  if (!number) throw "no such mutant";
  return *number;
}
template <dissect::Name name>
consteval Mutant mutant() {
  return mutant_in<name>(mutants);
}

}  // namespace rdmascope::replay
