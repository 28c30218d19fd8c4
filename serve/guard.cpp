#include "serve/guard.h"

#include <algorithm>
#include <cctype>

namespace treeline::serve {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return result;
}

/// A Host header without its port: "[::1]:8080" is "[::1]".
std::string without_port(const std::string& host) {
    const std::size_t from = host.starts_with('[') ? host.find(']') : 0;
    const std::size_t colon = from == std::string::npos ? from : host.find(':', from);
    return host.substr(0, colon);
}

/// Four numbers with dots, or anything in brackets: what no name server was asked for.
bool is_address(const std::string& host) {
    const bool dotted = std::count(host.begin(), host.end(), '.') == 3 &&
                        std::all_of(host.begin(), host.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
    return dotted || (host.starts_with('[') && host.ends_with(']'));
}

bool is_known_host(const std::string& header, const Rules& rules) {
    const std::string host = lower(without_port(header));
    return is_address(host) || host == "localhost" ||
           std::any_of(rules.host_names.begin(), rules.host_names.end(),
                       [&](const std::string& name) { return lower(name) == host; });
}

/// In a time that does not tell how much of it is right.
bool same_secret(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size() && !b.empty(); ++i) {
        difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i % b.size()]);
    }
    return difference == 0;
}

bool is_question(const std::string& path) { return path.starts_with("/v1/") && path != "/v1/openapi.json"; }

std::string media_type(const std::string& content_type) {
    const std::string type = lower(content_type.substr(0, content_type.find(';')));
    return type.substr(0, type.find_last_not_of(" \t") + 1);
}

}  // namespace

bool is_loopback(std::string_view address) {
    return address == "localhost" || address == "::1" || (address.starts_with("127.") && is_address(std::string(address)));
}

std::optional<Refusal> framing_refusal(const std::vector<std::string>& hosts, const std::vector<std::string>& lengths) {
    if (hosts.size() != 1 || hosts.front().empty()) {
        return Refusal{400, "a request names its host, once (Host)"};
    }
    const auto is_number = [](const std::string& length) {
        return !length.empty() &&
               std::all_of(length.begin(), length.end(), [](unsigned char letter) { return std::isdigit(letter) != 0; });
    };
    const bool agree = std::all_of(lengths.begin(), lengths.end(),
                                   [&](const std::string& length) { return is_number(length) && length == lengths.front(); });
    return agree ? std::nullopt : std::optional(Refusal{400, "the length of the body must be one number (Content-Length)"});
}

std::optional<Refusal> refusal(const RequestHead& head, const Rules& rules) {
    if (!is_known_host(head.host, rules)) {
        return Refusal{403, "this server does not answer as \"" + head.host + "\"; --host-name names what else it is called"};
    }
    if (!head.origin.empty() && head.origin != "http://" + head.host && head.origin != "https://" + head.host) {
        return Refusal{403, "pages of other sites may not ask this server"};
    }
    if (is_question(head.path) && !rules.token.empty() && !same_secret("Bearer " + rules.token, head.authorization)) {
        return Refusal{401, "the token is missing or wrong (Authorization: Bearer TOKEN)"};
    }
    if (head.method == "POST" && media_type(head.content_type) != "application/json") {
        return Refusal{415, "the body must be application/json"};
    }
    if (!head.content_encoding.empty() && lower(head.content_encoding) != "identity") {
        return Refusal{415, "the body must not be compressed"};
    }
    return std::nullopt;
}

}  // namespace treeline::serve
