// Which requests a server takes: a page of somebody else must not ask it through a user's browser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treeline::serve {

struct Rules {
    std::vector<std::string> host_names;  ///< besides addresses and localhost
    std::string token;                    ///< of every question; empty: none is needed
};

/// What a request says of itself.
struct RequestHead {
    std::string method, path, host, origin, authorization, content_type, content_encoding;
};

struct Refusal {
    int status;
    std::string sentence;
};

/// Whether `address` is of this machine alone.
bool is_loopback(std::string_view address);

/// Why a request cannot be told from others on its connection, if so (RFC 9112, 3.2 and 6.3): it needs one Host, and what it
/// says of its length must agree. All values of the two headers are given.
std::optional<Refusal> framing_refusal(const std::vector<std::string>& hosts, const std::vector<std::string>& lengths);

/// Why a request is not answered, if it is not:
/// - a Host that is a name, but neither localhost nor one of the rules': the browser of somebody whose page changed the address
///   of its own name (DNS rebinding),
/// - an Origin other than the Host: a page of another site,
/// - a question (paths below /v1/, but for /v1/openapi.json) without the token,
/// - a body that is not plain application/json: pages send other types without asking first.
std::optional<Refusal> refusal(const RequestHead& head, const Rules& rules);

}  // namespace treeline::serve
