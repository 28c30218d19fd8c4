// Questions and answers as JSON texts, for callers without C++ types: pages, servers and other languages.
//
//     std::string answer = treeline::answer_question("recommend", R"({"target": "qwen3-8b", "platforms": ["l40s"], ...})");
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "treeline/catalogue.h"

namespace treeline {

/// What came of a question.
struct Answered {
    enum class Outcome {
        answered,
        refused,    ///< {"problems": [sentences]}: the question is at fault
        too_large,  ///< the same of one that takes more time (sweeps/deadline.h) or memory than an answer may
        failed      ///< {"failure": text}: Treeline, or the machine, is
    } outcome;
    std::string text;
};

/// What `answer` returns; what it throws becomes JSON.
Answered answered(const std::function<std::string()>& answer);

/// The answer to a question in JSON, itself JSON. What may be asked:
///
///     recommend   a workload: the bytes that `treeline recommend FILE --format json` prints
///     explore     a workload: {"page": what a report shows (reports/page/README.md) without its studies,
///                 "drafters": [{label, text, source, per_position}] as priced}
///     drafters    {"target"}: [{name, kind, measured_with, per_position}] of those that are known for it
///     tree        {"shape", "per_rank"}: {"parents"} of its nodes, the root being 0
///     file        {"name", "text"} of a file that a user hands over: kept in `folder`, where later questions may name it, as
///                 {"kind": "workload" | "model" | "device" | "run", "name", "text"}, or with "question" in place of the
///                 last two; a log or result of a benchmark is kept as the run that `treeline import` makes of it
///
/// Paths in a question are relative to `folder`. Bad input is an answer, {"problems": [sentences]}, and so is a fault,
/// {"failure": text}; nothing is thrown.
std::string answer_question(std::string_view kind, std::string_view question,
                            const requests::Catalogue& catalogue = installed_catalogue(),
                            const std::filesystem::path& folder = {});

}  // namespace treeline
