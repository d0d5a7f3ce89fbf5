// Notices: what traps and reports say, with the details of each trap; and ClassPortInfo, which says where they go.
// mad.md 3.14, 5.1.
#pragma once

#include "dissect/field.h"
#include "dissect/ib_codes.h"

namespace rdmascope::dissect {

inline constexpr ValueName notice_types[] = {
    {0, "fatal"}, {1, "urgent"}, {2, "security"}, {3, "subnet management"}, {4, "informational"}, {0x7f, "empty"}};
inline constexpr ValueName producer_types[] = {
    {1, "Channel Adapter"}, {2, "Switch"}, {3, "Router"}, {4, "Class Manager"}, {0xffffff, "all"}};

// Of generic notices.
inline constexpr ValueName trap_names[] = {{64, "GID in service"},
                                           {65, "GID out of service"},
                                           {66, "multicast group created"},
                                           {67, "multicast group deleted"},
                                           {68, "UnPath"},
                                           {69, "RePath"},
                                           {128, "link state changed"},
                                           {129, "local link integrity"},
                                           {130, "excessive buffer overrun"},
                                           {131, "flow control watchdog"},
                                           {144, "local changes"},
                                           {145, "SystemImageGUID changed"},
                                           {256, "bad M_Key"},
                                           {257, "bad P_Key"},
                                           {258, "bad Q_Key"},
                                           {259, "bad P_Key at a switch port"},
                                           {0xffff, "all"}};

constexpr bool is_generic_notice(const std::uint8_t* notice) { return notice[0] & 0x80; }

struct Notice {
  static constexpr std::string_view name = "infiniband.notice", title = "Notice";
  static constexpr std::uint32_t bytes = 10;
  static constexpr auto fields =
      layout(bytes, {
                        {"isgeneric", 1, Show::flag, "IsGeneric"},
                        {"type", 7, Show::dec, "Type", notice_types},
                        view("producertype", 24, Show::dec, "ProducerType", producer_types).only_if(is_generic_notice),
                        {"producertypevendorid", 24, Show::hex, "ProducerType/VendorID"},
                        view("trapnumber", 16, Show::dec, "TrapNumber", trap_names).only_if(is_generic_notice),
                        {"trapnumberdeviceid", 16, Show::dec, "TrapNumber/DeviceID"},
                        {"issuerlid", 16, Show::dec, "IssuerLID"},
                        {"noticetoggle", 1, Show::flag, "NoticeToggle"},
                        {"noticecount", 15, Show::dec, "NoticeCount"},
                        rest("datadetails", Show::bytes, "DataDetails"),
                    });
};

inline constexpr std::uint32_t notice_details_bytes = 54;

// Behind the notice in a Report of the SA.
struct NoticeIssuer {
  static constexpr std::string_view name = "infiniband.noticeissuer", title = "Notice Issuer";
  static constexpr std::uint32_t bytes = 16;
  static constexpr auto fields = layout(bytes, {{"issuergid", 128, Show::ipv6, "IssuerGID"}});
};

// The details by trap number: 54 bytes each.
struct Trap {
  static constexpr std::string_view shared = "infiniband.trap";  // tshark's names of all of them
  static constexpr std::uint32_t bytes = notice_details_bytes;
};

struct Trap64 : Trap {
  static constexpr std::string_view name = "infiniband.trap64", title = "Trap 64 to 67: GID or Multicast Group";
  static constexpr auto fields = layout(bytes, {{"reserved0", 48, Show::reserved, "Reserved"},
                                                {"gidaddr", 128, Show::ipv6, "GIDADDR"},
                                                {"reserved1", 256, Show::bytes, "Reserved"}});
};

struct Trap128 : Trap {
  static constexpr std::string_view name = "infiniband.trap128", title = "Trap 128: Link State Changed";
  static constexpr auto fields =
      layout(bytes, {{"lidaddr", 16, Show::dec, "LIDADDR"}, {"reserved", 416, Show::bytes, "Reserved"}});
};

struct Trap129 : Trap {
  static constexpr std::string_view name = "infiniband.trap129", title = "Trap 129 to 131: Link Errors";
  static constexpr auto fields = layout(bytes, {{"reserved0", 16, Show::reserved, "Reserved"},
                                                {"lidaddr", 16, Show::dec, "LIDADDR"},
                                                {"portno", 8, Show::dec, "PORTNO"},
                                                {"reserved1", 392, Show::bytes, "Reserved"}});
};

struct Trap144 : Trap {
  static constexpr std::string_view name = "infiniband.trap144", title = "Trap 144: Local Changes";
  static constexpr auto fields =
      layout(bytes, {{"reserved0", 16, Show::reserved, "Reserved"},
                     {"lidaddr", 16, Show::dec, "LIDADDR"},
                     {"reserved1", 8, Show::reserved, "Reserved"},
                     {"reserved2", 7, Show::reserved, "Reserved"},
                     {"otherlocalchanges", 1, Show::flag, "OtherLocalChanges"},
                     {"capabilitymask", 32, Show::hex, "CAPABILITYMASK"},
                     {"reserved3", 8, Show::reserved, "Reserved"},
                     {"reserved4", 4, Show::reserved, "Reserved"},
                     {"smprioritychange", 1, Show::flag, "SMPriorityChange"},
                     Field{"linkspeedenabledchange", 1, Show::flag, "LinkSpeedEnabledChange"}.also(
                         "infiniband.trap.linkspeecenabledchange"),  // so in tshark
                     {"linkwidthenabledchange", 1, Show::flag, "LinkWidthEnabledChange"},
                     {"nodedescriptionchange", 1, Show::flag, "NodeDescriptionChange"},
                     {"capabilitymask2", 16, Show::hex, "CAPABILITYMASK2"},
                     {"reserved5", 320, Show::bytes, "Reserved"}});
};

struct Trap145 : Trap {
  static constexpr std::string_view name = "infiniband.trap145", title = "Trap 145: SystemImageGUID Changed";
  static constexpr auto fields = layout(bytes, {{"reserved0", 16, Show::reserved, "Reserved"},
                                                {"lidaddr", 16, Show::dec, "LIDADDR"},
                                                {"reserved1", 16, Show::reserved, "Reserved"},
                                                {"systemimageguid", 64, Show::hex, "SYSTEMIMAGEGUID"},
                                                {"reserved2", 320, Show::bytes, "Reserved"}});
};

struct Trap256 : Trap {
  static constexpr std::string_view name = "infiniband.trap256", title = "Trap 256: Bad M_Key";
  static constexpr auto fields = layout(bytes, {{"reserved0", 16, Show::reserved, "Reserved"},
                                                {"lidaddr", 16, Show::dec, "LIDADDR"},
                                                {"drslid", 16, Show::hex, "DRSLID"},
                                                {"method", 8, Show::hex, "METHOD"},
                                                {"reserved1", 8, Show::reserved, "Reserved"},
                                                {"attributeid", 16, Show::hex, "ATTRIBUTEID"},
                                                {"attributemodifier", 32, Show::hex, "ATTRIBUTEMODIFIER"},
                                                {"mkey", 64, Show::hex, "MKEY"},
                                                {"reserved2", 8, Show::reserved, "Reserved"},
                                                {"drnotice", 1, Show::flag, "DRNotice"},
                                                {"drpathtruncated", 1, Show::flag, "DRPathTruncated"},
                                                {"drhopcount", 6, Show::dec, "DRHopCount"},
                                                {"drnoticereturnpath", 240, Show::bytes, "DRNoticeReturnPath"}});
};

struct Trap257 : Trap {
  static constexpr std::string_view name = "infiniband.trap257", title = "Trap 257, 258: Bad P_Key or Q_Key";
  static constexpr auto fields = layout(bytes, {{"reserved0", 16, Show::reserved, "Reserved"},
                                                {"lidaddr1", 16, Show::dec, "LIDADDR1"},
                                                {"lidaddr2", 16, Show::dec, "LIDADDR2"},
                                                {"key", 32, Show::hex, "KEY"},
                                                {"sl", 4, Show::dec, "SL"},
                                                {"reserved1", 4, Show::reserved, "Reserved"},
                                                {"qp1", 24, Show::hex, "QP1"},
                                                {"reserved2", 8, Show::reserved, "Reserved"},
                                                {"qp2", 24, Show::hex, "QP2"},
                                                {"gidaddr1", 128, Show::ipv6, "GIDADDR1"},
                                                {"gidaddr2", 128, Show::ipv6, "GIDADDR2"},
                                                {"reserved3", 32, Show::reserved, "Reserved"}});
};

struct Trap259 : Trap {
  static constexpr std::string_view name = "infiniband.trap259", title = "Trap 259: Bad P_Key at a Switch Port";
  static constexpr auto fields = layout(bytes, {{"datavalid", 16, Show::hex, "DataValid"},
                                                {"lidaddr1", 16, Show::dec, "LIDADDR1"},
                                                {"lidaddr2", 16, Show::dec, "LIDADDR2"},
                                                {"pkey", 16, Show::hex, "PKEY"},
                                                {"sl", 4, Show::dec, "SL"},
                                                {"reserved0", 4, Show::reserved, "Reserved"},
                                                {"qp1", 24, Show::hex, "QP1"},
                                                {"reserved1", 8, Show::reserved, "Reserved"},
                                                {"qp2", 24, Show::hex, "QP2"},
                                                {"gidaddr1", 128, Show::ipv6, "GIDADDR1"},
                                                {"gidaddr2", 128, Show::ipv6, "GIDADDR2"},
                                                {"swlidaddr", 16, Show::dec, "SWLIDADDR"},
                                                {"portno", 8, Show::dec, "PORTNO"},
                                                {"reserved2", 24, Show::reserved, "Reserved"}});
};

// Names of the set bits of both capability masks, which depend on the class.
bool class_capabilities(const Packet&, const Layer&, unsigned n, Value& out);

struct ClassPortInfo {
  static constexpr std::string_view name = "infiniband.classportinfo", title = "ClassPortInfo";
  static constexpr std::uint32_t bytes = 72;
  static constexpr auto fields =
      layout(bytes, {
                        {"baseversion", 8, Show::dec, "BaseVersion"},
                        {"classversion", 8, Show::dec, "ClassVersion"},
                        {"capabilitymask", 16, Show::hex, "CapabilityMask"},
                        {"capabilitymask2", 27, Show::hex, "CapabilityMask2"},
                        generated("capabilities", Show::text, "Capability", class_capabilities).repeated(),
                        {"resptimevalue", 5, Show::dec, "RespTimeValue", ib_times},
                        {"redirectgid", 128, Show::ipv6, "RedirectGID"},
                        {"redirecttc", 8, Show::hex, "RedirectTC"},
                        {"redirectsl", 4, Show::dec, "RedirectSL"},
                        {"redirectfl", 20, Show::hex, "RedirectFL"},
                        {"redirectlid", 16, Show::dec, "RedirectLID"},
                        {"redirectpkey", 16, Show::hex, "RedirectP_Key"},
                        {"reserved", 8, Show::reserved, "Reserved"},
                        {"redirectqp", 24, Show::hex, "RedirectQP"},
                        {"redirectqkey", 32, Show::hex, "RedirectQ_Key"},
                        {"trapgid", 128, Show::ipv6, "TrapGID"},
                        {"traptc", 8, Show::hex, "TrapTC"},
                        {"trapsl", 4, Show::dec, "TrapSL"},
                        {"trapfl", 20, Show::hex, "TrapFL"},
                        {"traplid", 16, Show::dec, "TrapLID"},
                        {"trappkey", 16, Show::hex, "TrapP_Key"},
                        {"traphl", 8, Show::dec, "TrapHL"},
                        {"trapqp", 24, Show::hex, "TrapQP"},
                        {"trapqkey", 32, Show::hex, "TrapQ_Key"},
                    });
};
static_assert(field<ClassPortInfo, "redirectqp">().at == 33 * 8 && field<ClassPortInfo, "trapqp">().at == 65 * 8);

}  // namespace rdmascope::dissect
