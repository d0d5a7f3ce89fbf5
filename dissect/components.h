// Component masks: bit n stands for component n of a record, whose components are the rows of its headers in their
// order. So their names stand nowhere else. A view is a component, the rows under it are none; a row that is none or
// several says so (Field::components). mad.md 2.4, 4.
#pragma once

#include <cstdint>
#include <span>

#include "dissect/field.h"
#include "dissect/packet.h"

namespace rdmascope::dissect {

// The title of component `component`, into `out`. False: the record has fewer.
bool component_title(std::span<const Header* const> record, unsigned component, Value& out);

// The same for bit number `n` of those that are set in `mask`; "bit 45" where there is no component. False: fewer are
// set.
bool selected_component(std::span<const Header* const> record, std::uint64_t mask, unsigned n, Value& out);

// Position of set bit number `n`, or -1.
int set_bit(std::uint64_t mask, unsigned n);

}  // namespace rdmascope::dissect
