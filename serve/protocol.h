// Treeline as a server of the Model Context Protocol (https://modelcontextprotocol.io/specification), versions 2024-11-05,
// 2025-03-26 and 2025-06-18: JSON-RPC 2.0, with the questions as tools. Nothing here reads or writes; see serve/stdio.h.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "serve/questions.h"

namespace treeline::serve {

class Protocol {
public:
    explicit Protocol(Setting setting) : setting_(std::move(setting)) {}

    /// The reply to one message, without a line break; empty where there is none (notifications, and answers to nothing that
    /// was asked). Never throws.
    std::string reply(std::string_view message);

private:
    using Json = nlohmann::ordered_json;
    Json replies(const Json& message);
    Json reply_to(const Json& message);
    Json result_of(const std::string& method, const Json& parameters);
    Json initialized(const Json& parameters);
    [[nodiscard]] Json tools() const;
    [[nodiscard]] Json called(const Json& parameters) const;

    Setting setting_;
    std::string version_;  ///< that was agreed on; empty before that
};

}  // namespace treeline::serve
