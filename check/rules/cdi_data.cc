// AWS CDI, packets with data and the EFA messages that carry them. check/cdi_data.cc finds the breaches. cdi-probe.md
// 4, 5 and 6.
#include "check/cdi.h"
#include "check/rule.h"
#include "check/rules/all.h"

namespace rdmascope::check {

const Rule cdi_p01{
    .info =
        {.id = "CDI-P01",
         .title = "The header of a data packet has values that exist",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk payload.h, protocol_v2.c",
         .help =
             R"(Types are 0 to 3; the nanoseconds of the time stamp are less than a second; SDKs send 0, 2 or 1290 bytes of extra data.

Usual causes: the packet is read in the wrong of two layouts; it is no CDI packet.

Look next at: read it with -d udp.port==N,cdi.data.v1 or cdi.data.v2.)"},
    .cdi = CdiBreach::data_header};

const Rule cdi_p02{
    .info =
        {.id = "CDI-P02",
         .title = "The packets of a payload fit together",
         .source = "aws-cdi-sdk payload.c",
         .help =
             R"(Packets of a payload are numbered from 0, each number once; offsets follow each other without overlap, and all bytes together
are total_payload_size. They may arrive in any order, and one that is missing may have been lost.

Usual causes: an offset that includes the extra data; a size without it; a packet captured twice.

Look next at: cdi.data.payload_data_offset of the packets of this payload.)"},
    .cdi = CdiBreach::data_sequence};

const Rule cdi_p03{
    .info =
        {.id = "CDI-P03",
         .title = "Payloads are numbered one by one",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk payload.c",
         .help =
             R"(Payload numbers increase by one, modulo 256 (version 1) or 65536 (version 2). A jump is a payload that was lost, or is not in
the capture.

Usual causes: loss; a capture that misses packets.

Look next at: the interface's drop count.)"},
    .cdi = CdiBreach::payload_number};

const Rule cdi_p04{
    .info =
        {.id = "CDI-P04",
         .title = "Packets are numbered one by one",
         .kind = Class::anomaly,
         .severity = Severity::info,
         .source = "aws-cdi-sdk payload.c",
         .help =
             R"(In version 2 packet_id counts all packets of an endpoint. A gap is a packet that the record does not have; SRD itself loses
none.

Usual causes: a hook that misses messages.

Look next at: what the recorder says of its losses.)"},
    .cdi = CdiBreach::packet_id};

const Rule cdi_p05{
    .info =
        {.id = "CDI-P05",
         .title = "Probe packets before Connected, data behind it",
         .source = "aws-cdi-sdk adapter_efa_probe_rx.c",
         .help =
             R"(Until Connected a transmitter sends probe packets (type 2) and nothing else over EFA, from then on none of them. A receiver
counts whatever comes before, so data would be lost.

Usual causes: an application that sends although it is not connected; a record whose clock differs from that of the capture.

Look next at: the times of Connected and of these packets.)"},
    .cdi = CdiBreach::probe_and_data};

const Rule cdi_p06{
    .info =
        {.id = "CDI-P06",
         .title = "A probe has 1000 packets",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk configuration.h: EFA_PROBE_PACKET_COUNT",
         .help =
             R"(A receiver says Connected when it has counted 1000 messages. With fewer in the record some are missing there, or the receiver
was built with another count.

Usual causes: a record that began late; a changed constant.

Look next at: CDI-P04 on the same way.)"},
    .cdi = CdiBreach::probe_count};

const Rule cdi_r01{
    .info =
        {.id = "CDI-R01",
         .title = "The RDM header has the version that belongs to CDI's",
         .source = "aws-cdi-sdk adapter_efa.c; libfabric prov/efa",
         .help =
             R"(With a version of 2.3 or later CDI uses a libfabric with RDM protocol 4, before that libfabric 1.9 with protocol 3. The two do
not understand each other.

Usual causes: a libfabric that is not the one the SDK brings.

Look next at: which libfabric is loaded on either side.)"},
    .cdi = CdiBreach::rdm_version};

const Rule cdi_r02{
    .info =
        {.id = "CDI-R02",
         .title = "An EFA message holds the headers it announces",
         .source = "libfabric prov/efa/docs/efa_rdm_protocol_v4",
         .help =
             R"(Type and flags of the RDM header say which headers follow. This message is shorter, or has a type that nobody knows.

Usual causes: a record that was cut; a newer libfabric.

Look next at: the bytes behind the last header that was read.)"},
    .cdi = CdiBreach::rdm_length};

const Rule cdi_c02{
    .info =
        {.id = "CDI-C02",
         .title = "A failed send ends the connection",
         .kind = Class::anomaly,
         .severity = Severity::warning,
         .source = "aws-cdi-sdk adapter_efa_tx.c",
         .help =
             R"(A completion that says the peer's queue pair is gone, or that it does not answer, makes the transmitter reset at once. Without
a Reset within a second it has not noticed.

Usual causes: completions that nobody polls; a capture that misses the Reset.

Look next at: the transmitter's log. CDI-C01 of the reference, which is about the descriptor itself, is CQE-01, CQE-17 and CQE-28
here.)"},
    .cdi = CdiBreach::failed_completion};

}  // namespace rdmascope::check
