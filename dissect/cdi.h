// AWS CDI: messages of the connection probe, and packets with data. All numbers are little-endian. cdi-probe.md 2
// and 4.
//
// A control message is one UDP datagram in one of two layouts; its first byte says which. V1 has one field more, and
// behind the fields that all commands share stands what is particular to Ack or to the others. So a message is three
// or four headers of which each is described once.
//
// A data packet does not say which of its two layouts it has: that was settled by the control messages before it.
#pragma once

#include "dissect/efa_rdm.h"
#include "dissect/packet.h"

namespace rdmascope::dissect {

inline constexpr std::uint8_t cdi_reset = 1, cdi_ping = 2, cdi_connected = 3, cdi_ack = 4, cdi_protocol_version = 5;
inline constexpr ValueName cdi_commands[] = {{cdi_reset, "Reset"},
                                             {cdi_ping, "Ping"},
                                             {cdi_connected, "Connected"},
                                             {cdi_ack, "Ack"},
                                             {cdi_protocol_version, "ProtocolVersion"}};

// States of a probe, numbered as in SDK 2.3 and later. They are never on the wire: see check/cdi.h. cdi-probe.md 3.1.
enum class ProbeState : std::uint8_t {
  idle,
  send_reset,
  send_protocol_version,
  resetting,
  reset_done,
  wait_for_start,
  efa_start,
  efa_probe,
  efa_tx_probe_acks,
  efa_connected,
  efa_connected_ping,
  efa_reset,
  destroy,
  unknown,
};
inline constexpr std::size_t probe_state_count = 14;
inline constexpr std::string_view probe_state_prefix = "kProbeState";
inline constexpr ValueName probe_states[] = {
    {0, "kProbeStateIdle"},         {1, "kProbeStateSendReset"},         {2, "kProbeStateSendProtocolVersion"},
    {3, "kProbeStateResetting"},    {4, "kProbeStateResetDone"},         {5, "kProbeStateWaitForStart"},
    {6, "kProbeStateEfaStart"},     {7, "kProbeStateEfaProbe"},          {8, "kProbeStateEfaTxProbeAcks"},
    {9, "kProbeStateEfaConnected"}, {10, "kProbeStateEfaConnectedPing"}, {11, "kProbeStateEfaReset"},
    {12, "kProbeStateDestroy"}};
// "EfaProbe"; "?" for unknown.
constexpr std::string_view short_name(ProbeState state) {
  return state == ProbeState::unknown
             ? "?"
             : probe_states[static_cast<std::size_t>(state)].name.substr(probe_state_prefix.size());
}

// Conditions on a control message, which is there up to its stream name.
inline constexpr std::uint32_t cdi_address_at = 71, cdi_address_bytes = 32;
constexpr bool cdi_has_v1_layout(const std::uint8_t* message) { return message[0] <= 1; }
constexpr bool cdi_address_is_zero(const std::uint8_t* message, std::uint32_t from) {
  for (std::uint32_t i = from; i < cdi_address_bytes; ++i)
    if (message[cdi_address_at + i] != 0) return false;
  return true;
}
// The image of a sockaddr_in: AF_INET in host order, and nothing behind its 8 bytes.
constexpr bool cdi_has_sockaddr(const std::uint8_t* message) {
  return message[cdi_address_at] == 2 && message[cdi_address_at + 1] == 0 && cdi_address_is_zero(message, 8);
}
constexpr bool cdi_has_efa_address(const std::uint8_t* message) {
  return !cdi_has_sockaddr(message) && !cdi_address_is_zero(message, 0);
}

// "2.3.5"
bool cdi_version(const Packet&, const Layer&, unsigned n, Value&);

struct Cdi {
  static constexpr std::string_view name = "cdi", title = "CDI Control Message", protocol = "CDI";
  static constexpr std::uint32_t bytes = 241;
  static constexpr auto fields =
      layout(bytes, {
                        generated("version", Show::text, "Protocol version", cdi_version),
                        {"version_num", 8, Show::dec, "Version"},
                        {"major_version_num", 8, Show::dec, "Major version"},
                        {"probe_version_num", 8, Show::dec, "Probe version"},
                        Field{"command", 32, Show::dec, "Command", cdi_commands}.little(),
                        {"senders_ip_str", 64 * 8, Show::text, "Sender's IP address"},
                        view("senders_gid_array", cdi_address_bytes * 8, Show::bytes, "Sender's adapter address"),
                        view("gid", 128, Show::ipv6, "GID").only_if(cdi_has_efa_address),
                        Field{"sin_family", 16, Show::dec, "Address family"}.little().only_if(cdi_has_sockaddr),
                        Field{"sin_port", 16, Show::dec, "Port"}.only_if(cdi_has_sockaddr),  // in network order
                        Field{"sin_addr", 32, Show::ipv4, "IP address"}.only_if(cdi_has_sockaddr),
                        Field{"sin_zero", 64, Show::reserved, "Reserved"}.only_if(cdi_has_sockaddr),
                        efa_row::qpn.only_if(cdi_has_efa_address),
                        efa_row::pad.only_if(cdi_has_efa_address),
                        efa_row::qkey.only_if(cdi_has_efa_address),
                        efa_row::next.only_if(cdi_has_efa_address),
                        {"senders_stream_name_str", 138 * 8, Show::text, "Stream name"},
                    });
};
static_assert(field<Cdi, "senders_gid_array">().at == cdi_address_at * 8);
static_assert(field<Cdi, "qpn">().at == (cdi_address_at + 16) * 8);

// From SDK 2.2 on always -1; before, the number of the stream.
inline constexpr ValueName cdi_no_stream[] = {{0xffffffff, "-1, none"}};

struct CdiV1 {
  static constexpr std::string_view name = "cdi.v1", title = "CDI Stream", shared = "cdi";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields =
      layout(bytes, {Field{"senders_stream_identifier", 32, Show::dec, "Stream identifier", cdi_no_stream}.little()});
};

bool cdi_checksum_status(const Packet&, const Layer&, unsigned n, Value&);
bool cdi_checksum_expected(const Packet&, const Layer&, unsigned n, Value&);

struct CdiControl {
  static constexpr std::string_view name = "cdi.control", title = "CDI Sequence", shared = "cdi";
  static constexpr std::uint32_t bytes = 6;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"senders_control_dest_port", 16, Show::dec, "Sender's control port"}.little(),
                        Field{"control_packet_num", 16, Show::dec, "Number"}.little(),
                        Field{"checksum", 16, Show::hex, "Checksum"}.little(),
                        generated("checksum.status", Show::named, "Checksum status", cdi_checksum_status, crc_statuses),
                        generated("checksum.expected", Show::hex, "Expected checksum", cdi_checksum_expected),
                    });
};

// Behind any command but Ack.
struct CdiRequest {
  static constexpr std::string_view name = "cdi.request", title = "CDI Request", shared = "cdi";
  static constexpr std::uint32_t bytes = 1;
  static constexpr auto fields = layout(bytes, {{"requires_ack", 8, Show::dec, "Requires an acknowledgement"}});
};

struct CdiAck {
  static constexpr std::string_view name = "cdi.ack", title = "CDI Acknowledgement";
  static constexpr std::uint32_t bytes = 6;
  static constexpr auto fields = layout(
      bytes,
      {
          Field{"command", 32, Show::dec, "Acknowledged command", cdi_commands}.little().also("cdi.ack_command"),
          Field{"control_packet_num", 16, Show::dec, "Acknowledged number"}.little().also("cdi.ack_control_packet_num"),
      });
};

// The bytes a control message has, by its layout and command. It must be there up to its command.
std::uint32_t cdi_control_bytes(const std::uint8_t* message);
// What its checksum should be. All bytes of the message must be there.
std::uint16_t cdi_checksum(const std::uint8_t* message);

// Is this a control message beyond doubt? There is no port and no magic number, so everything must fit: version,
// command, length, checksum, and text where the sender's address stands.
bool is_cdi_control(std::span<const std::uint8_t> datagram);
// Is it meant as one, if this is CDI? Then it may be damaged: a command, and its length or the first digit of an
// address; or an address.
bool resembles_cdi_control(std::span<const std::uint8_t> datagram);

// --- Packets with data -----------------------------------------------------------------------------------------------

inline constexpr std::uint8_t cdi_data_plain = 0, cdi_data_offset = 1, cdi_data_probe = 2, cdi_data_keep_alive = 3;
inline constexpr ValueName cdi_payload_types[] = {{cdi_data_plain, "Data"},
                                                  {cdi_data_offset, "DataOffset"},
                                                  {cdi_data_probe, "Probe"},
                                                  {cdi_data_keep_alive, "KeepAlive"}};

struct CdiData {
  static constexpr std::string_view name = "cdi.data", title = "CDI Data", protocol = "CDI";
  static constexpr std::uint32_t bytes = 3;
  static constexpr auto fields =
      layout(bytes, {
                        {"payload_type", 8, Show::dec, "Type", cdi_payload_types},
                        Field{"packet_sequence_num", 16, Show::dec, "Packet of the payload"}.little(),
                    });
};

struct CdiDataV1 {
  static constexpr std::string_view name = "cdi.data.v1", title = "CDI Data, version 1", shared = "cdi.data";
  static constexpr std::uint32_t bytes = 1;
  static constexpr auto fields = layout(bytes, {{"payload_num", 8, Show::dec, "Payload"}});
};

struct CdiDataV2 {
  static constexpr std::string_view name = "cdi.data.v2", title = "CDI Data, version 2", shared = "cdi.data";
  static constexpr std::uint32_t bytes = 6;
  static constexpr auto fields = layout(bytes, {
                                                   Field{"payload_num", 16, Show::dec, "Payload"}.little(),
                                                   Field{"packet_id", 32, Show::dec, "Packet id"}.little(),
                                               });
};

// Of packet 0 of a payload.
struct CdiDataFirst {
  static constexpr std::string_view name = "cdi.data.first", title = "CDI First Packet", shared = "cdi.data";
  static constexpr std::uint32_t bytes = 30;
  static constexpr auto fields =
      layout(bytes, {
                        Field{"total_payload_size", 32, Show::dec, "Size of the payload"}.little().in("bytes"),
                        Field{"max_latency_microsecs", 64, Show::dec, "Maximum latency"}.little().in("us"),
                        Field{"origination_ptp_timestamp.seconds", 32, Show::dec, "PTP time, seconds"}.little(),
                        Field{"origination_ptp_timestamp.nanoseconds", 32, Show::dec, "PTP time, nanoseconds"}.little(),
                        Field{"payload_user_data", 64, Show::hex, "User data"}.little(),
                        Field{"extra_data_size", 16, Show::dec, "Size of the extra data"}.little().in("bytes"),
                    });
};

// V2 only, behind the size of the extra data.
struct CdiDataStart {
  static constexpr std::string_view name = "cdi.data.start", title = "CDI Start Time", shared = "cdi.data";
  static constexpr std::uint32_t bytes = 8;
  static constexpr auto fields =
      layout(bytes, {Field{"tx_start_time_microseconds", 64, Show::dec, "Start of sending, UTC"}.little().in("us")});
};

struct CdiDataOffset {
  static constexpr std::string_view name = "cdi.data.offset", title = "CDI Offset", shared = "cdi.data";
  static constexpr std::uint32_t bytes = 4;
  static constexpr auto fields =
      layout(bytes, {Field{"payload_data_offset", 32, Show::dec, "Offset in the payload"}.little().in("bytes")});
};

// The extra data of AVM streams: its size says whether a configuration follows.
struct CdiAvm {
  static constexpr std::string_view name = "cdi.avm", title = "CDI AVM";
  static constexpr std::uint32_t bytes = 2, with_config_bytes = 1290;
  static constexpr auto fields = layout(bytes, {Field{"stream_identifier", 16, Show::dec, "Stream"}.little()});
};

struct CdiAvmConfig {
  static constexpr std::string_view name = "cdi.avm.config", title = "CDI AVM Configuration", shared = "cdi.avm";
  static constexpr std::uint32_t bytes = CdiAvm::with_config_bytes - CdiAvm::bytes;
  static constexpr auto fields = layout(bytes, {
                                                   {"uri", 257 * 8, Show::text, "URI"},
                                                   {"data", 1024 * 8, Show::text, "Parameters"},
                                                   {"pad", 24, Show::reserved, "Padding"},
                                                   Field{"data_size", 32, Show::dec, "Size of the parameters"}.little(),
                                               });
};

struct CdiExtra {
  static constexpr std::string_view name = "cdi.extra", title = "CDI Extra Data";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {rest("data", Show::bytes, "Extra data")});
};

struct CdiPayload {
  static constexpr std::string_view name = "cdi.payload", title = "CDI Payload";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields = layout(bytes, {rest("data", Show::bytes, "Payload")});
};

// Probe packets of SDK 1.0 and 2.0 have a number of their own in front. cdi-probe.md 4.4.
struct CdiProbe {
  static constexpr std::string_view name = "cdi.data.probe", title = "CDI Probe";
  static constexpr std::uint32_t bytes = 2, message_bytes = 1026;
  static constexpr auto fields = layout(bytes, {Field{"sequence", 16, Show::dec, "Number"}.little()});
};

// Is this packet 0 of a payload in the layout V2, or V1? It has fields with few possible values.
bool is_first_cdi_packet(std::span<const std::uint8_t> packet, bool v2);

}  // namespace rdmascope::dissect
