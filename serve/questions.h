// What Treeline is asked over a wire: the questions of its commands, as JSON texts. No file of this machine but the catalogue's
// is read for them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "json/key.h"
#include "requests/catalogue.h"
#include "treeline/questions.h"

namespace treeline::serve {

/// For programs, as the command prints with --format json, or for people, as it prints on a terminal.
enum class Form { json, text };

struct Setting {
    requests::Catalogue catalogue;
    std::chrono::milliseconds time_limit{10'000};  ///< of an answer
};

/// What one is asked with.
struct Asked {
    std::string_view body;  ///< JSON
    Form form;
    const requests::Catalogue& catalogue;
};

struct Question {
    std::string name;     ///< "recommend"
    std::string summary;  ///< a sentence
    std::string table;    ///< of key_tables(): the keys of its body
    bool is_a_look_up;    ///< in the catalogue, where an empty body asks for all of it
    std::string (*answer)(const Asked& asked);
};

const std::vector<Question>& questions();
/// The tables of their bodies and of all objects in them.
const std::vector<json::KeyTable>& key_tables();

/// Never throws. One thread works on it, and for no longer than the time limit.
Answered ask(const Question& question, std::string_view body, Form form, const Setting& setting);

}  // namespace treeline::serve
