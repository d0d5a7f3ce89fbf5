// AWS CDI, control messages one by one: what is in them, who sends them, how they are counted. check/cdi.cc finds the
// breaches. cdi-probe.md 2 and 7.
#include "check/cdi.h"
#include "check/rule.h"
#include "check/rules/all.h"

namespace rdmascope::check {

const Rule cdi_f01{
    .info =
        {.id = "CDI-F01",
         .title = "A control message has the length of its command",
         .source = "aws-cdi-sdk protocol_v1.c, protocol_v2.c",
         .help =
             R"(A control message is one datagram of 252 or 257 bytes (version 1: any command, Ack) or 248 or 253 bytes (version 2). There
is no length field, so a receiver drops what has another length.

Usual causes: another structure packing or compiler; a middle box that pads; something else on the same ports.

Look next at: the bytes behind the header, and which of the two versions the first byte says.)"},
    .cdi = CdiBreach::length};

const Rule cdi_f02{
    .info =
        {.id = "CDI-F02",
         .title = "The checksum of a control message is right",
         .source = "aws-cdi-sdk protocol.c",
         .help =
             R"(The one's complement sum runs over little-endian words of the whole message with the checksum as zero. A receiver
drops a message whose checksum is wrong and says nothing. From a sender that computed others right it is damage on the way, an
anomaly.

Usual causes: the sum of big-endian words; the field, which stands at an odd offset, summed up along with the rest.

Look next at: cdi.checksum.expected, and the UDP checksum of the same datagram.)"},
    .cdi = CdiBreach::checksum};

const Rule cdi_f03{
    .info =
        {.id = "CDI-F03",
         .title = "A control message has a command that exists",
         .source = "aws-cdi-sdk protocol.h",
         .help =
             R"(Commands are Reset 1, Ping 2, Connected 3, Ack 4, ProtocolVersion 5. Others should be dropped; SDK 2.4 and later take them,
make an endpoint for their sender and, in a debug build, abort.

Usual causes: a sender that is newer than all known versions; a command in the wrong byte order.

Look next at: what the receiver does next.)"},
    .cdi = CdiBreach::command};

const Rule cdi_f04{
    .info =
        {.id = "CDI-F04",
         .title = "requires_ack is 0 or 1",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk protocol_v2.c",
         .help =
             R"(The last byte of every command but Ack is a truth value. No receiver looks at it, so another value harms nobody.

Usual causes: a byte that was never set.

Look next at: the other fields of the sender for more of this kind.)"},
    .cdi = CdiBreach::requires_ack_value};

const Rule cdi_f05{
    .info =
        {.id = "CDI-F05",
         .title = "The sender's address is text that ends",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk protocol.h",
         .help =
             R"(senders_ip_str is an IPv4 address as text with a zero behind it. SDKs before 2.2 answer to this text and not to the
datagram's source, so they cannot answer without it.

Usual causes: an adapter without an address; a string of 64 bytes without room for its zero.

Look next at: the adapter's configuration on that host.)"},
    .cdi = CdiBreach::ip_text};

const Rule cdi_f06{
    .info =
        {.id = "CDI-F06",
         .title = "The sender's address is where the datagram comes from",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk adapter_control_interface.c",
         .help =
             R"(senders_ip_str says the address of the sender's adapter, and the datagram comes from another one. From SDK 2.2 on only the
datagram's address counts. Peers of a sender with probe version below 4 answer to the text, which may be an address they cannot
reach.

Usual causes: address translation; a public address in the configuration; a bind to another interface.

Look next at: whether anything comes back, and use private addresses in one security group.)"},
    .cdi = CdiBreach::ip_differs};

const Rule cdi_f07{
    .info =
        {.id = "CDI-F07",
         .title = "The sender's control port is the one it sends from",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk adapter_efa_probe_rx.c",
         .help =
             R"(From probe version 4 on a side sends and listens on one socket, so senders_control_dest_port is the UDP source port. Answers
go to the UDP source port.

Usual causes: address translation; the port in network byte order (it is little-endian).

Look next at: the two bytes swapped.)"},
    .cdi = CdiBreach::port_differs};

const Rule cdi_f08{
    .info =
        {.id = "CDI-F08",
         .title = "New senders name no stream in version 1 messages",
         .kind = Class::anomaly,
         .severity = Severity::info,
         .source = "aws-cdi-sdk protocol_v1.c",
         .help =
             R"(The stream identifier was used by SDK 1.0 and 2.0. Since SDK 2.2 it is -1 and connections are told apart by address and
port.

Usual causes: an implementation made after the old SDK.

Look next at: the probe version of the sender.)"},
    .cdi = CdiBreach::stream_id};

const Rule cdi_f09{
    .info =
        {.id = "CDI-F09",
         .title = "Nobody speaks version 2.0.0",
         .source = "aws-cdi-sdk protocol.c",
         .help =
             R"(SDK 2.0.0 sent its own version as that of the protocol. Every later SDK refuses messages of this version: 2.4 and later drop
them, so such a peer never connects.

Usual causes: SDK 2.0.0.

Look next at: update that side.)"},
    .cdi = CdiBreach::refused_version};

const Rule cdi_f10{
    .info =
        {.id = "CDI-F10",
         .title = "ProtocolVersion comes from senders that have it",
         .source = "aws-cdi-sdk protocol.h",
         .help =
             R"(ProtocolVersion exists since probe version 3. A message with this command that states an older probe version contradicts
itself.

Usual causes: an implementation that fills in the versions of its peer.

Look next at: the Reset of the same sender.)"},
    .cdi = CdiBreach::early_version_request};

const Rule cdi_f11{
    .info =
        {.id = "CDI-F11",
         .title = "The stream name ends",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk protocol.h",
         .help =
             R"(senders_stream_name_str has 138 bytes and a zero among them. Behind the zero may stand what is left of older messages.

Usual causes: a name that is too long, copied without its zero.

Look next at: the configuration of the stream.)"},
    .cdi = CdiBreach::stream_name};

const Rule cdi_d01{
    .info =
        {.id = "CDI-D01",
         .title = "Each command has its direction",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c, adapter_efa_probe_rx.c",
         .help =
             R"(Ping and ProtocolVersion go from transmitter to receiver, Connected and Ack from receiver to transmitter. Release builds
ignore the others, debug builds abort.

Usual causes: an implementation that acknowledges the receiver's Reset; two transmitters, or two receivers, set up against each
other.

Look next at: which side is configured as what.)"},
    .cdi = CdiBreach::direction};

const Rule cdi_d02{.info = {.id = "CDI-D02",
                            .title = "Only one side is the transmitter",
                            .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
                            .help = R"(Both sides send Ping, which only a transmitter does.

Usual causes: both sides set up as transmitters with each other's port.

Look next at: the configuration of both.)"},
                   .cdi = CdiBreach::both_ping};

const Rule cdi_n01{
    .info =
        {.id = "CDI-N01",
         .title = "Control messages are numbered one by one",
         .source = "aws-cdi-sdk adapter_efa_probe_control.c",
         .help =
             R"(One counter of each endpoint numbers all its messages, Acks included; what is sent again has a new number. Numbers that are
passed over, that come late or twice say that the capture misses messages or shows some twice: an artifact. A number that goes
back to anything but 1, or that two messages share, is the sender's fault.

Usual causes: loss before the capture; a counter for each command.

Look next at: the interface's drop count; other findings of this flow are doubtful until the next Reset.)"},
    .cdi = CdiBreach::number};

const Rule cdi_n02{
    .info = {.id = "CDI-N02",
             .title = "The first control message is number 1",
             .kind = Class::anomaly,
             .severity = Severity::warning,
             .source = "aws-cdi-sdk adapter_efa_probe_control.c",
             .help =
                 R"(The counter is incremented before use. One third-party transmitter begins at 0, which harms nobody.

Usual causes: another implementation; messages before the capture that went another way.

Look next at: whether the flow was there before the capture began.)"},
    .cdi = CdiBreach::first_number};

const Rule cdi_n03{
    .info =
        {.id = "CDI-N03",
         .title = "A new endpoint begins with Reset or Ack",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk adapter_efa_probe_control.c",
         .help =
             R"(The counter restarts at 1 only when an endpoint is made anew. A transmitter then sends Reset; a receiver sends Reset or
acknowledges one. Ping, ProtocolVersion or Connected as number 1 says that the counter was reset alone.

Usual causes: an implementation that resets its counter with the connection.

Look next at: the messages of that sender before.)"},
    .cdi = CdiBreach::number_again};

}  // namespace rdmascope::check
