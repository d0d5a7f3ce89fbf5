#include "dissect/cqe.h"

#include <algorithm>

#include "dissect/headers.h"

namespace rdmascope::dissect {
namespace {

using Kind = Completion::Kind;

std::uint32_t u32_of(std::uint64_t v) { return static_cast<std::uint32_t>(v); }

template <class H>
void read_mlx4(Completion& c) {
  const View<H> cqe(c.bytes);
  c.send = is_mlx4_send(c.bytes);
  c.opcode = u32_of(cqe.template get<"opcode">());
  c.owner = static_cast<std::uint8_t>(cqe.template get<"owner">());
  if (is_mlx4_unused(c.bytes)) {
    c.kind = Kind::unused;
    return;
  }
  c.operation = c.send ? name_of(mlx4_send_opcodes, c.opcode) : name_of(mlx4_receive_opcodes, c.opcode);
  c.qpn = u32_of(cqe.template get<"qpn">());
  c.wqe = u32_of(cqe.template get<"wqe_counter">());
  if (c.opcode == mlx4_error) {
    c.kind = Kind::error;
    c.operation = {};
    c.status = u32_of(cqe.template get<"syndrome">());
    c.vendor = u32_of(cqe.template get<"vendor_error_syndrome">());
    c.fault = fault_of(syndromes, c.status);
  } else if (c.opcode == mlx4_resize) {
    c.kind = Kind::resize;
    c.qpn.reset();
    c.wqe.reset();
  } else if (c.operation.empty() || c.opcode == mlx4_config) {
    c.kind = Kind::unknown;
  } else if (!c.send || c.opcode == 0x10) {
    c.byte_count = u32_of(cqe.template get<"byte_cnt">());
  } else if (c.opcode >= 0x11 && c.opcode <= 0x15) {
    c.byte_count = 8;  // what drivers report
  }
}

void read_mlx5(Completion& c) {
  const View<Mlx5Cqe> cqe(c.bytes);
  c.opcode = u32_of(cqe.get<"opcode">());
  c.owner = static_cast<std::uint8_t>(cqe.get<"owner">());
  c.send = c.opcode == mlx5_req || c.opcode == mlx5_req_err;
  if (c.opcode == mlx5_invalid) {
    c.kind = Kind::unused;
    return;
  }
  c.operation = c.send ? name_of(mlx5_send_opcodes, cqe.get<"send_opcode">()) : name_of(mlx5_opcodes, c.opcode);
  if (c.opcode == mlx5_resize) {
    c.kind = Kind::resize;
    return;
  }
  if (c.opcode == mlx5_sig_err) {
    c.kind = Kind::error;
    c.fault = Fault::general;
    c.status = u32_of(cqe.get<"sig.syndrome">());
    return;
  }
  c.qpn = u32_of(cqe.get<"qpn">());
  c.wqe = u32_of(cqe.get<"wqe_counter">());
  if (is_mlx5_error(c.bytes)) {
    c.kind = Kind::error;
    c.status = u32_of(cqe.get<"syndrome">());
    c.vendor = u32_of(cqe.get<"vendor_error_syndrome">());
    c.fault = fault_of(syndromes, c.status);
    if (!c.send) c.operation = {};
    return;
  }
  if (name_of(mlx5_opcodes, c.opcode).empty()) {
    c.kind = Kind::unknown;
    return;
  }
  if (cqe.get<"format">() == 3) c.kind = Kind::compressed;
  const std::uint64_t sop = cqe.get<"send_opcode">();
  if (c.kind == Kind::completion && (!c.send || sop == 0x10 || (sop >= 0x11 && sop <= 0x15)))
    c.byte_count = u32_of(cqe.get<"byte_cnt">());
}

void read_efa(Completion& c, const Packet& packet) {
  const View<EfaCqe> cqe(c.bytes);
  c.send = is_efa_tx(c.bytes);
  c.owner = static_cast<std::uint8_t>(cqe.get<"phase">());
  c.opcode = u32_of(cqe.get<"op_type">());
  c.operation = name_of(efa_operations, c.opcode);
  c.qpn = u32_of(cqe.get<"qp_num">());
  c.wqe = u32_of(cqe.get<"req_id">());
  c.status = u32_of(cqe.get<"status">());
  c.fault = fault_of(efa_statuses, c.status);
  if (c.status != 0) c.kind = Kind::error;
  Value value;
  if (!c.send && c.status == 0 && efa_whole_length(packet, *c.layer, 0, value)) c.byte_count = u32_of(value.number);
}

void read_erdma(Completion& c) {
  const View<ErdmaCqe> cqe(c.bytes);
  c.send = cqe.get<"qtype">() == 0;
  c.owner = static_cast<std::uint8_t>(cqe.get<"owner">());
  c.opcode = u32_of(cqe.get<"opcode">());
  c.qpn = u32_of(cqe.get<"qpn">());
  c.wqe = u32_of(cqe.get<"qe_idx">());
  c.byte_count = u32_of(cqe.get<"size">());
  c.status = u32_of(cqe.get<"syndrome">());
  if (c.status == 0) return;
  c.kind = Kind::error;
  c.fault = Fault::general;  // its codes are not public
}

void read_wc(Completion& c) {
  const View<WorkCompletion> wc(c.bytes);
  c.opcode = u32_of(wc.get<"opcode">());
  c.send = c.opcode < wc_receive;
  c.operation = name_of(wc_opcodes, c.opcode);
  c.qpn = u32_of(wc.get<"qp_num">());
  c.status = u32_of(wc.get<"status">());
  c.fault = fault_of(wc_statuses, c.status);
  if (c.status != 0) {
    c.kind = Kind::error;
    c.operation = {};  // verbs leaves it undefined
    c.vendor = u32_of(wc.get<"vendor_err">());
  } else if (!c.send || c.opcode == 2) {
    c.byte_count = u32_of(wc.get<"byte_len">());
  }
}

// Writes the text, if there is any.
bool put_text(std::string_view text, unsigned n, Value& out) {
  if (n > 0 || text.empty()) return false;
  out.kind = Value::Kind::text;
  out.text = text;
  return true;
}

bool put_number(std::optional<std::uint32_t> number, unsigned n, Value& out) {
  if (n > 0 || !number) return false;
  out.kind = Value::Kind::number;
  out.number = *number;
  return true;
}

}  // namespace

// Software fills the ring with this before the device may write to it (linux, mlx4).
bool is_mlx4_unused(const std::uint8_t* cqe) {
  return std::all_of(cqe, cqe + Mlx4Cqe::bytes, [](std::uint8_t b) { return b == 0xcc; });
}

std::optional<Completion> completion_of(const Packet& packet) {
  for (const Layer& layer : packet.layers()) {
    Completion c;
    c.layer = &layer;
    c.bytes = packet.data(layer);
    if (layer.header == &header<Mlx4Cqe>) {
      c.format = CqeFormat::mlx4;
      read_mlx4<Mlx4Cqe>(c);
    } else if (layer.header == &header<Mlx4TimestampCqe>) {
      c.format = CqeFormat::mlx4_timestamp;
      read_mlx4<Mlx4TimestampCqe>(c);
    } else if (layer.header == &header<Mlx5Cqe>) {
      c.format = CqeFormat::mlx5;
      read_mlx5(c);
    } else if (layer.header == &header<EfaCqe>) {
      c.format = CqeFormat::efa;
      read_efa(c, packet);
    } else if (layer.header == &header<ErdmaCqe>) {
      c.format = CqeFormat::erdma;
      read_erdma(c);
    } else if (layer.header == &header<WorkCompletion>) {
      c.format = CqeFormat::work_completion;
      read_wc(c);
    } else {
      continue;
    }
    return c;
  }
  return std::nullopt;
}

bool mlx4_timestamp(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  const std::uint8_t* p = packet.data(layer);
  if (n > 0 || is_mlx4_error(p)) return false;
  const View<Mlx4TimestampCqe> cqe(p);
  out.kind = Value::Kind::number;
  out.number = cqe.get<"timestamp47_16">() << 16 | cqe.get<"timestamp15_0">();
  return true;
}

bool efa_whole_length(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  const std::uint8_t* p = packet.data(layer);
  if (n > 0 || !is_efa_rx(p)) return false;
  std::uint32_t length = u32_of(View<EfaCqe>(p).get<"length">());
  if (layer.bytes >= EfaCqe::extended_bytes && efa_operation(p) == efa_write)
    length |= static_cast<std::uint32_t>(p[16] | p[17] << 8) << 16;
  return put_number(length, n, out);
}

bool efa_source_gid(const Packet& packet, const Layer& layer, unsigned n, Value& out) {
  const std::uint8_t* p = packet.data(layer);
  if (n > 0 || !is_efa_rx(p) || layer.bytes < EfaCqe::extended_bytes || efa_operation(p) == efa_write ||
      View<EfaCqe>(p).get<"ah">() != efa_ah_unknown)
    return false;
  out.kind = Value::Kind::bytes;
  out.bytes = {p + EfaCqe::bytes, 16};
  return true;
}

bool cqe_family(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && put_text(name_of(cqe_formats, static_cast<std::uint64_t>(c->format)), n, out);
}

bool cqe_qpn(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && put_number(c->qpn, n, out);
}

bool cqe_queue(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && c->qpn && put_number(c->send, n, out);
}

bool cqe_operation(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && put_text(c->operation, n, out);
}

bool cqe_wqe(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && put_number(c->wqe, n, out);
}

bool cqe_byte_count(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && put_number(c->byte_count, n, out);
}

// UD over Ethernet: the six bytes lie next to each other.
bool cqe_source_mac(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto record = packet.find<CqeRecord>();
  const auto c = completion_of(packet);
  if (n > 0 || !c || !record || c->format != CqeFormat::mlx4 || c->kind != Kind::completion || c->send ||
      !cqe_knows_link(record->bytes()) || !record->get<"flags.ethernet">() || record->get<"qp_type">() != qpt_ud)
    return false;
  constexpr Field first = field<Mlx4Cqe, "slid_smac47_32">();
  out.kind = Value::Kind::bytes;
  out.bytes = {c->bytes + first.at / 8, 6};
  return true;
}

bool cqe_error(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && (c->kind == Kind::completion || c->kind == Kind::error) && put_number(c->failed(), n, out);
}

bool cqe_status(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  if (!c) return false;
  switch (c->kind) {
    case Kind::completion:
    case Kind::error:
      return put_text(words_of(c->fault).name, n, out);
    case Kind::resize:
      return put_text("end of the ring after a resize", n, out);
    case Kind::compressed:
      return put_text("title of compressed entries", n, out);
    case Kind::unused:
      return put_text("not yet written by the device", n, out);
    case Kind::unknown:
      return put_text("unknown opcode", n, out);
  }
  return false;
}

bool cqe_vendor(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && put_number(c->vendor, n, out);
}

bool cqe_meaning(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && put_text(words_of(c->fault).meaning, n, out);
}

bool cqe_cause(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && put_text(words_of(c->fault).cause, n, out);
}

bool cqe_look_at(const Packet& packet, const Layer&, unsigned n, Value& out) {
  const auto c = completion_of(packet);
  return c && put_text(words_of(c->fault).look_at, n, out);
}

}  // namespace rdmascope::dissect
