// AWS CDI, one control message after the other: acknowledges, the handshake, timers, versions, addresses. check/cdi_
// sequence.cc finds the breaches. Where a number before is missing they are artifacts. cdi-probe.md 3 and 7.
#include "check/cdi.h"
#include "check/rule.h"
#include "check/rules/all.h"

namespace rdmascope::check {

const Rule cdi_a01{
    .info =
        {.id = "CDI-A01",
         .title = "An Ack names a message that was sent",
         .source = "aws-cdi-sdk adapter_efa_probe_rx.c",
         .help =
             R"(An Ack repeats command and number of what it answers. The transmitter ignores an Ack of anything else.

Usual causes: the number of the Ack itself; a number in the wrong byte order; the command of another message.

Look next at: cdi.ack_command and cdi.ack_control_packet_num beside the messages of the other side.)"},
    .cdi = CdiBreach::ack_of_nothing};

const Rule cdi_a02{.info = {.id = "CDI-A02",
                            .title = "Nobody acknowledges Connected or Ack",
                            .source = "aws-cdi-sdk adapter_efa_probe_control.c",
                            .help = R"(Acks answer Reset, Ping and ProtocolVersion.

Usual causes: an implementation that acknowledges whatever comes.

Look next at: requires_ack of what was answered.)"},
                   .cdi = CdiBreach::ack_of_answer};

const Rule cdi_a03{
    .info =
        {.id = "CDI-A03",
         .title = "A Ping is acknowledged within half a second",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk configuration.h: TX_COMMAND_ACK_TIMEOUT",
         .help =
             R"(After 500 ms the transmitter sends another Ping and takes only the Ack of that one. So Acks that are always late end the
connection.

Usual causes: a busy receiver; a long way.

Look next at: round trips in `stats cdi`.)"},
    .cdi = CdiBreach::late_ping_ack};

const Rule cdi_a04{
    .info = {.id = "CDI-A04",
             .title = "A Reset is acknowledged within two seconds",
             .kind = Class::anomaly,
             .severity = Severity::warning,
             .source = "aws-cdi-sdk configuration.h: SEND_RESET_COMMAND_FREQUENCY",
             .help = R"(After 2 s the transmitter sends another Reset, and the Ack of the old one is worth nothing.

Usual causes: a receiver that needs long to open its adapter.

Look next at: the receiver's log around that time.)"},
    .cdi = CdiBreach::late_reset_ack};

const Rule cdi_a05{
    .info =
        {.id = "CDI-A05",
         .title = "Only the Ack of the last command leads on",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(The transmitter waits for the Ack of its latest Reset. An Ack of an earlier one is to be ignored; here it went on with
ProtocolVersion.

Usual causes: an implementation that compares the command and not the number.

Look next at: cdi.ack_control_packet_num of the Ack.)"},
    .cdi = CdiBreach::went_on_after_stale_ack};

const Rule cdi_a06{
    .info =
        {.id = "CDI-A06",
         .title = "Each Ping has one Ack",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk adapter_efa_probe_rx.c",
         .help =
             R"(A receiver acknowledges every Ping that reaches it, at once and once. A Ping without an Ack while a later one has it was
lost behind the capture, or the receiver skipped it: its numbers have no gap.

Usual causes: loss; a Ping doubled on its way.

Look next at: a capture at the other end.)"},
    .cdi = CdiBreach::ping_ack_count};

const Rule cdi_a07{
    .info =
        {.id = "CDI-A07",
         .title = "The Ack of Reset states the right version",
         .source = "aws-cdi-sdk protocol.c, adapter_efa_probe_rx.c",
         .help =
             R"(To a transmitter that has ProtocolVersion (probe version 3 or later) a receiver states its own full version, in the layout
that belongs to it. To an older one it repeats the version of the Reset, in layout 1.

Usual causes: an implementation that negotiates in the Ack of Reset already.

Look next at: the versions of both messages.)"},
    .cdi = CdiBreach::reset_ack_version};

const Rule cdi_a08{
    .info =
        {.id = "CDI-A08",
         .title = "The Ack of ProtocolVersion settles on what both have",
         .source = "aws-cdi-sdk protocol.c: ProtocolVersionSet",
         .help =
             R"(The receiver agrees to the transmitter's version if it is not beyond its own version and major number, else to its own.

Usual causes: a receiver that insists on its own version, or that takes anything.

Look next at: cdi.version of the Ack of Reset, ProtocolVersion and its Ack.)"},
    .cdi = CdiBreach::version_ack_version};

const Rule cdi_s01{
    .info =
        {.id = "CDI-S01",
         .title = "A transmitter opens with Reset",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(The first message is Reset in layout 1 with version 1.0.P, where P is the sender's probe version, and it asks for an Ack. So
receivers of any age understand it. Another layout, or no wish for an Ack, is an anomaly.

Usual causes: another implementation.

Look next at: whether the receiver is old enough to stumble over it.)"},
    .cdi = CdiBreach::opening};

const Rule cdi_s02{
    .info =
        {.id = "CDI-S02",
         .title = "Reset is repeated every two seconds",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk configuration.h: SEND_RESET_COMMAND_FREQUENCY",
         .help =
             R"(A transmitter without an Ack sends Reset every 2 s, a second after its own reset or that of the receiver.

Usual causes: a host that is too busy; another implementation.

Look next at: the load of the transmitter.)"},
    .cdi = CdiBreach::reset_period};

const Rule cdi_s03{
    .info =
        {.id = "CDI-S03",
         .title = "ProtocolVersion follows the Ack of Reset",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(When the Ack of Reset states probe version 3 or later, the transmitter sends its full version at once, with the probe version
it stated in Reset. To an older receiver it sends none. Late is an anomaly.

Usual causes: another implementation; a busy transmitter; a long way, where the capture is at the receiver.

Look next at: the versions of Reset, its Ack and ProtocolVersion.)"},
    .cdi = CdiBreach::version_request};

const Rule cdi_s04{
    .info =
        {.id = "CDI-S04",
         .title = "ProtocolVersion waits for the Ack of Reset",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(A transmitter knows only from the Ack whether the receiver has ProtocolVersion. The receiver's next number proves that the
capture misses no Ack.

Usual causes: an implementation that sends its opening messages without waiting for answers.

Look next at: the time between Reset and ProtocolVersion.)"},
    .cdi = CdiBreach::version_before_ack};

const Rule cdi_s05{
    .info =
        {.id = "CDI-S05",
         .title = "ProtocolVersion is repeated every half second, 40 times",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source =
             "aws-cdi-sdk configuration.h: TX_COMMAND_ACK_TIMEOUT, TX_COMMAND_MAX_RETRIES",
         .help = R"(Without an Ack the transmitter of probe version 5 sends it 40 times, 500 ms apart, then Reset.

Usual causes: another implementation; a failure of its own in between.

Look next at: the transmitter's log.)"},
    .cdi = CdiBreach::version_period};

const Rule cdi_s06{
    .info =
        {.id = "CDI-S06",
         .title = "Connected follows the agreement on a version",
         .source = "aws-cdi-sdk adapter_efa_probe_rx.c",
         .help =
             R"(A receiver says Connected when the probe packets have come through, which it waits for only after it has acknowledged
ProtocolVersion (or Reset, of a transmitter with probe version below 3).

Usual causes: an implementation that reports a connection it has not tested.

Look next at: the messages of the receiver since its last Reset.)"},
    .cdi = CdiBreach::early_connected};

const Rule cdi_s07{
    .info =
        {.id = "CDI-S07",
         .title = "Connected comes soon after the versions are agreed on",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk adapter_efa_probe_rx.c, adapter_efa_probe_tx.c",
         .help =
             R"(After the agreement the transmitter sends 1000 probe packets over EFA, and the receiver says Connected when it has them all.
A receiver that waits in vain sends Reset after 2 s, a transmitter after 3 s. The control messages work, the data path does not.

Usual causes: the security group of EFA does not allow all traffic to and from itself, inbound and outbound (a rule for
0.0.0.0/0 is not enough: EFA addresses are no IP addresses); different subnets; a wrong adapter address; for the sockets
provider, the TCP ports behind the control port.

Look next at: the security groups of both instances, fi_pingpong between them, then the adapter's address in the Ack.)"},
    .cdi = CdiBreach::no_connected};

const Rule cdi_s08{
    .info =
        {.id = "CDI-S08",
         .title = "Connected is said once",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk release notes 2.4.1",
         .help =
             R"(A transmitter that is connected takes a second Connected as a fault and resets. Receivers before SDK 2.4.1 say it again when
their Ping timer runs out.

Usual causes: SDK 2.2 to 2.4.0 as receiver, with Pings that are lost or late.

Look next at: the Pings before it; update the receiver.)"},
    .cdi = CdiBreach::connected_again};

const Rule cdi_s09{
    .info =
        {.id = "CDI-S09",
         .title = "A transmitter pings when it is connected",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(Connected is answered by a Ping within milliseconds, or by a Reset if it was not expected. A capture that ends before the
next word of the transmitter leaves it open: an anomaly.

Usual causes: a transmitter that has stopped; Connected lost behind the capture.

Look next at: whether the transmitter still runs.)"},
    .cdi = CdiBreach::silent_after_connected};

const Rule cdi_s10{
    .info =
        {.id = "CDI-S10",
         .title = "Pings keep their period",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk configuration.h: SEND_PING_COMMAND_FREQUENCY",
         .help =
             R"(The next Ping comes 5 s after an Ack (probe version 5), or 3 s or 1 s (before), give or take a tenth.

Usual causes: a busy transmitter; another implementation.

Look next at: the load of the transmitter. A receiver gives up after 20 s (probe version 5) or 5 to 6.5 s without a Ping.)"},
    .cdi = CdiBreach::ping_period};

const Rule cdi_s11{
    .info =
        {.id = "CDI-S11",
         .title = "Pings are repeated every half second, then comes Reset",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk configuration.h: TX_COMMAND_MAX_RETRIES",
         .help =
             R"(Without an Ack the transmitter pings again after 500 ms: 40 times (probe version 5), 2 or 5 times (4) or 4 times (before), then
it resets. A Reset before that, or after Pings that were all answered, says that its data path has failed: an error of a
completion over EFA.

Usual causes of an early Reset: the receiver was stopped or restarted; EFA was interrupted.

Look next at: the transmitter's log for completion errors, and whether the receiver still runs.)"},
    .cdi = CdiBreach::ping_retries};

const Rule cdi_s12{
    .info =
        {.id = "CDI-S12",
         .title = "No Ping between Reset and Connected",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(A transmitter that has sent Reset pings only when the receiver has said Connected. A receiver acknowledges a Ping in any
state, so its Ack proves nothing.

Usual causes: another implementation.

Look next at: the messages since the Reset.)"},
    .cdi = CdiBreach::ping_before_connected};

const Rule cdi_s13{
    .info =
        {.id = "CDI-S13",
         .title = "A transmitter answers the receiver's Reset by Reset",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(After a Reset of the receiver the transmitter resets itself and sends Reset within 1 to 2.1 s. It never sends an Ack: that is
the violation. To go on, or to be late, is an anomaly, since the Reset may have been lost.

Usual causes: another implementation; loss behind the capture.

Look next at: the next messages of both.)"},
    .cdi = CdiBreach::answer_to_rx_reset};

const Rule cdi_s14{
    .info =
        {.id = "CDI-S14",
         .title = "A receiver gives up after two Resets",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk configuration.h: RX_RESET_COMMAND_MAX_RETRIES",
         .help =
             R"(A receiver that nobody answers sends two Resets, 2 s apart, then destroys the endpoint and is silent until the next message
of the transmitter.

Usual causes: SDK before 2.3; the transmitter cannot be reached.

Look next at: whether the transmitter gets what the receiver sends.)"},
    .cdi = CdiBreach::rx_reset_count};

const Rule cdi_s15{
    .info =
        {.id = "CDI-S15",
         .title = "A receiver resets within a second",
         .kind = Class::anomaly,
         .severity = Severity::info,
         .source = "aws-cdi-sdk adapter_efa_probe_rx.c",
         .help =
             R"(A Reset of the receiver that asks for an Ack is sent when its own reset has not ended after a second.

Usual causes: an adapter that is slow to close; SDK 1.0 to 2.3, which do so at any time-out.

Look next at: the receiver's log.)"},
    .cdi = CdiBreach::rx_reset_asks};

const Rule cdi_s16{
    .info =
        {.id = "CDI-S16",
         .title = "The probe completes",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "SDK README, troubleshooting",
         .help =
             R"(Four times in a row both sides agreed on a version and no Connected followed: the connection goes round in a circle of about
3 s. The control messages work in both directions, so ports and hosts are right; it is the EFA path that does not carry the probe
packets.

Usual causes: the EFA security group, which must allow all traffic to and from itself, inbound and outbound; instances in
different subnets; an adapter without EFA.

Look next at: both security groups; then fi_pingpong -p efa between the two instances.)"},
    .cdi = CdiBreach::no_path};

const Rule cdi_s17{
    .info =
        {.id = "CDI-S17",
         .title = "Somebody answers Reset",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "SDK README, troubleshooting",
         .help =
             R"(Three Resets or more have no answer of any kind. Nothing of the receiver reaches the place of the capture.

Usual causes: the receiver does not run yet, or on another port; a security group, network ACL or firewall blocks UDP to or from
the control port; the answer comes from another address or port than the one the transmitter sends to, and is ignored; the
capture sees one direction only.

Look next at: a capture at the receiver: do the Resets arrive?)"},
    .cdi = CdiBreach::no_answer};

const Rule cdi_s18{
    .info =
        {.id = "CDI-S18",
         .title = "A receiver that gets data answers Pings",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk, observed",
         .help =
             R"(Data goes over EFA while Pings have no Ack. A receiver of SDK 2.4 and later stays connected as long as data comes; the
transmitter gives up after its last Ping.

Usual causes: UDP is blocked or lost one way; a busy probe thread.

Look next at: a capture at the receiver.)"},
    .cdi = CdiBreach::pings_without_answer};

const Rule cdi_v01{.info = {.id = "CDI-V01",
                            .title = "Both sides keep to the version they agreed on",
                            .source = "aws-cdi-sdk protocol.c",
                            .help = R"(Connected, Ping and its Ack have the version of the Ack of ProtocolVersion.

Usual causes: an implementation that writes its own version everywhere.

Look next at: cdi.version of the Ack of ProtocolVersion.)"},
                   .cdi = CdiBreach::other_version};

const Rule cdi_v02{
    .info =
        {.id = "CDI-V02",
         .title = "After a Reset the version is agreed on again",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(A Reset may still have the version of the connection before, but its Ack ends the agreement. The transmitter must send
ProtocolVersion again before it pings.

Usual causes: an implementation that negotiates once.

Look next at: the messages since the Reset.)"},
    .cdi = CdiBreach::no_renegotiation};

const Rule cdi_g01{
    .info =
        {.id = "CDI-G01",
         .title = "A receiver keeps its address while it is connected",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(The transmitter takes over the address of every message it accepts. The one in the Ack of ProtocolVersion is the receiver's
until its next reset; another one afterwards leads new connections astray.

Usual causes: an address that is filled in from an endpoint that was closed.

Look next at: cdi.gid, cdi.qpn or cdi.sin_port of the messages.)"},
    .cdi = CdiBreach::address_changed};

const Rule cdi_g02{
    .info =
        {.id = "CDI-G02",
         .title = "A receiver says its address",
         .source = "aws-cdi-sdk adapter_efa_probe_tx.c",
         .help =
             R"(The transmitter connects to the adapter address in the Ack of ProtocolVersion. All zeros is no address.

Usual causes: an implementation that knows no EFA; an adapter that is not open.

Look next at: the receiver's log.)"},
    .cdi = CdiBreach::address_zero};

const Rule cdi_g03{
    .info =
        {.id = "CDI-G03",
         .title = "An adapter address has a known form",
         .kind = Class::anomaly,
         .severity = Severity::info,
         .source = "libfabric prov/efa, prov/sockets",
         .help =
             R"(With EFA it is a link-local GID (fe80::/64), queue pair number and Q_Key; with the sockets provider the image of a socket
address. This one is neither.

Usual causes: another provider of libfabric.

Look next at: cdi.senders_gid_array.)"},
    .cdi = CdiBreach::address_form};

}  // namespace rdmascope::check
