// The values of "format" that strings of a schema are checked against, as apiextensions does (go-openapi strfmt). Formats not
// listed here mean nothing.
#pragma once

#include <string_view>

namespace slipway::kube {

/// bsonobjectid, uri, email, hostname, ipv4, ipv6, cidr, mac, uuid, uuid3, uuid4, uuid5, isbn, isbn10, isbn13, creditcard, ssn,
/// hexcolor, rgbcolor, byte, password, date, duration, datetime, date-time, k8s-short-name, k8s-long-name, and for numbers
/// int32, int64, float, double.
bool is_known_format(std::string_view format);
/// True as well for formats that are unknown or not for strings.
bool has_format(std::string_view format, std::string_view text);

}  // namespace slipway::kube
