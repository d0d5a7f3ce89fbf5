// Mutants of the model that speaks the CDI probe: exactly one rule broken in each. See mutant.h. Names begin with the
// role of the model, cdi-tx or cdi-rx; in the other role they change nothing.
#pragma once

#include "replay/mutant.h"

namespace rdmascope::replay {

// `breaks`: rule of cdi-probe.md section 7, row of the tables of 3.3 and 3.4, or a section.
inline constexpr MutantInfo cdi_mutants[] = {
    // The receiver: what it takes.
    {"cdi-rx-bad-checksum", "F02", "Messages with a wrong checksum are taken."},
    {"cdi-rx-wrong-length", "2.4", "Messages that are too long are taken."},
    {"cdi-rx-takes-2-0-0", "F09", "Messages of version 2.0.0 are taken."},
    {"cdi-rx-unknown-acked", "F03", "An unknown command is acknowledged."},
    {"cdi-rx-acks-acks", "A02", "Acks are acknowledged."},
    {"cdi-rx-acks-connected", "A02", "Connected is acknowledged."},
    // Every message it sends.
    {"cdi-rx-checksum-place", "F02", "The checksum stands one byte behind its place."},
    {"cdi-rx-checksum-order", "2.7", "The checksum is stored in network order."},
    {"cdi-rx-number-stuck", "N01", "All messages have number 1."},
    {"cdi-rx-number-zero", "N02", "The first message has number 0."},
    {"cdi-rx-acks-not-counted", "N01", "Acks have the number of the message before."},
    {"cdi-rx-zero-gid", "G02", "The adapter's address is zero."},
    {"cdi-rx-other-port", "1.1", "Acks leave from another port than the one that listens."},
    {"cdi-rx-port-in-header", "F07", "senders_control_dest_port is one more than the port it sends from."},
    // Reset.
    {"cdi-rx-reset-not-acked", "R10", "Reset is not acknowledged."},
    {"cdi-rx-ack-number", "A01", "Acks name the number after that of the message."},
    {"cdi-rx-ack-command", "A01", "Ack of a Reset names ProtocolVersion."},
    {"cdi-rx-ack-v1", "A07", "Ack of a Reset has version 1.0.P."},
    {"cdi-rx-silent-timeout", "R15", "When no probe packets come it sends no Reset."},
    {"cdi-rx-resets-for-ever", "S14", "It goes on sending Resets."},
    {"cdi-rx-reset-early", "R10", "Its first Reset comes 2 s after the Ack of a Reset instead of 3 s."},
    {"cdi-rx-reset-cadence", "S14", "Its second Reset comes 1 s after the first."},
    {"cdi-rx-reset-flag", "2.3", "Its Resets require an acknowledgement."},
    {"cdi-rx-reset-version", "3.6", "Its Reset after one of the transmitter has its own version."},
    {"cdi-rx-reset-acked-twice", "A06", "Reset is acknowledged twice."},
    {"cdi-rx-ignores-reset-connected", "R4", "Reset of a connected transmitter is ignored."},
    {"cdi-rx-number-restarts", "2.6", "Reset of the transmitter starts its own numbers anew."},
    // Old transmitters.
    {"cdi-rx-legacy-version", "A07", "Ack of a Reset of an old transmitter has the receiver's own version."},
    {"cdi-rx-legacy-timer", "R13", "It waits 3 s for probe packets of an old transmitter instead of 2 s."},
    {"cdi-rx-legacy-source-port", "1.1", "Old transmitters are answered at the port they send from."},
    {"cdi-rx-header-port", "1.1", "New transmitters are answered at the port their messages name."},
    // ProtocolVersion.
    {"cdi-rx-version-not-acked", "R13", "ProtocolVersion is not acknowledged."},
    {"cdi-rx-stale-gid", "2.5", "Ack of ProtocolVersion has the adapter's address of the Ack of Reset."},
    {"cdi-rx-negotiates-own", "A08", "Ack of ProtocolVersion always has the receiver's own version."},
    {"cdi-rx-negotiates-remote", "A08", "Ack of ProtocolVersion always has the transmitter's version."},
    {"cdi-rx-version-timer", "R13", "It waits 4 s for probe packets after ProtocolVersion instead of 2 s."},
    // Ping and Connected.
    {"cdi-rx-ping-not-acked", "R17", "Pings are not acknowledged."},
    {"cdi-rx-ping-needs-connection", "R17", "Pings before Connected are not acknowledged."},
    {"cdi-rx-ping-twice", "A06", "Pings are acknowledged twice."},
    {"cdi-rx-ping-late", "A03", "Pings are acknowledged 700 ms later."},
    {"cdi-rx-ping-version", "V01", "Ack of a Ping has the receiver's own version, whatever was negotiated."},
    {"cdi-rx-ping-connects", "S06", "A Ping of an unknown transmitter is answered by Connected."},
    {"cdi-rx-connected-early", "P06", "Connected comes after 1 probe packet."},
    {"cdi-rx-connected-missing", "R16", "Connected does not come."},
    {"cdi-rx-connected-twice", "S08", "Connected is sent twice."},
    {"cdi-rx-connected-flag", "2.3", "Connected requires an acknowledgement."},
    {"cdi-rx-connected-version", "V01", "Connected has the receiver's own version, whatever was negotiated."},
    {"cdi-rx-monitor-short", "R19", "A connection without Pings ends after 6 s."},
    {"cdi-rx-monitor-never", "R19", "A connection without Pings does not end."},
    {"cdi-rx-monitor-connected", "3.5", "A connection without Pings is told Connected once more."},
    // Many transmitters.
    {"cdi-rx-one-endpoint", "1.1", "All transmitters share one endpoint."},
    {"cdi-rx-sixth-endpoint", "R1", "A sixth transmitter is let in."},
    // The transmitter: what it takes.
    {"cdi-tx-bad-checksum", "F02", "Messages with a wrong checksum are taken."},
    {"cdi-tx-wrong-length", "2.4", "Messages that are too long are taken."},
    {"cdi-tx-takes-2-0-0", "F09", "Messages of version 2.0.0 are taken."},
    {"cdi-tx-any-source", "1.1", "Messages from any port are taken."},
    {"cdi-tx-legacy-source", "1.1", "The port that messages of an old receiver name is not looked at."},
    {"cdi-tx-any-number", "T27", "An Ack of any number is taken."},
    {"cdi-tx-any-command", "T27", "An Ack of any command is taken."},
    {"cdi-tx-stale-number", "A05", "An Ack of a number sent before is taken."},
    {"cdi-tx-ignored-restarts", "T27", "An Ack that is ignored starts the timer anew."},
    // Every message it sends.
    {"cdi-tx-checksum-place", "F02", "The checksum stands one byte behind its place."},
    {"cdi-tx-checksum-order", "2.7", "The checksum is stored in network order."},
    {"cdi-tx-number-kept", "2.6", "What is sent again has the number it had before."},
    {"cdi-tx-number-zero", "N02", "The first message has number 0."},
    {"cdi-tx-no-ack-flag", "2.3", "No message requires an acknowledgement."},
    {"cdi-tx-port-in-header", "F07", "senders_control_dest_port is one more than the port it sends from."},
    // Reset.
    {"cdi-tx-no-resend", "S02", "Reset is sent once only."},
    {"cdi-tx-reset-cadence", "S02", "Reset is sent again after 1 s."},
    {"cdi-tx-gives-up", "S02", "Reset is sent four times only."},
    {"cdi-tx-reset-version", "S01", "The first Reset has the transmitter's own version."},
    {"cdi-tx-acks-reset", "S13", "Reset of the receiver is acknowledged."},
    {"cdi-tx-reset-ignored", "T26", "Reset of the receiver is ignored."},
    {"cdi-tx-reset-at-once", "T26", "Reset of the receiver is answered by Reset at once."},
    {"cdi-tx-connected-ignored", "T14", "Connected out of turn is ignored."},
    // ProtocolVersion.
    {"cdi-tx-no-version", "S03", "There is no ProtocolVersion."},
    {"cdi-tx-version-late", "S03", "ProtocolVersion comes after 1 s."},
    {"cdi-tx-version-early", "S04", "ProtocolVersion is sent before Reset is acknowledged."},
    {"cdi-tx-version-of-ack", "3.6", "ProtocolVersion has version 1.0.P."},
    {"cdi-tx-version-retries", "S05", "ProtocolVersion is sent 5 times."},
    {"cdi-tx-version-for-ever", "S05", "ProtocolVersion is sent until it is acknowledged."},
    {"cdi-tx-version-cadence", "S05", "ProtocolVersion is sent again after 1 s."},
    {"cdi-tx-negotiates-own", "V01", "Whatever the receiver's Ack says, the own version is used."},
    {"cdi-tx-negotiates-remote", "V01", "The version of the receiver's Ack is used, however high."},
    {"cdi-tx-legacy-version", "S03", "ProtocolVersion is sent to an old receiver, too."},
    {"cdi-tx-legacy-own", "3.6", "With an old receiver Resets keep version 1.0.P."},
    {"cdi-tx-no-probe-timeout", "T13", "It waits for Connected without end."},
    {"cdi-tx-stale-gid", "TX-14", "Probe packets go to the address of the Ack of Reset."},
    // Ping.
    {"cdi-tx-no-ping", "S09", "There is no Ping."},
    {"cdi-tx-ping-late", "S09", "The first Ping comes 1 s after Connected."},
    {"cdi-tx-ping-before-connected", "S12", "Pings are sent before Connected."},
    {"cdi-tx-probe-not-counted", "T16", "Connected is believed before the probe packets have arrived."},
    {"cdi-tx-ping-retries", "S11", "A Ping is sent 4 times."},
    {"cdi-tx-ping-for-ever", "S11", "A Ping is sent until it is acknowledged."},
    {"cdi-tx-ping-cadence", "S11", "A Ping is sent again after 1 s."},
    {"cdi-tx-ping-period", "S10", "Pings come 1 s after an Ack."},
    {"cdi-tx-ping-period-old", "S10", "Pings come 5 s after an Ack with probe versions below 5, too."},
    {"cdi-tx-ping-not-repeated", "S11", "The first Ping without an Ack ends the connection."},
};

template <dissect::Name name>
consteval Mutant cdi_mutant() {
  return mutant_in<name>(cdi_mutants);
}

}  // namespace rdmascope::replay
