#include "requests/load_reader.h"

#include <string>

#include <nlohmann/json.hpp>

namespace treeline::requests {

bool asks_for_most(const json::Reader& at) {
    const auto rate = at.raw().find(std::string(name_of(sweeps::LoadKind::arrival_rate)));
    return rate != at.raw().end() && rate->is_string() && rate->get<std::string>() == most_word;
}

sweeps::LoadKind load_kind_of(json::Reader& at, bool steady) {
    sweeps::LoadKind kind = sweeps::LoadKind::batch;
    int given = 0;
    for (const auto& [each, name] : names_in(sweeps::LoadKind{})) {
        if (at.has(name)) {
            kind = each;
            ++given;
        }
    }
    if (given > 1) {
        at.problem("",
                   "sets more than one of \"batch\", \"concurrency\" and \"arrival_rate\": the batch follows from the "
                   "other two");
    }
    if (kind != sweeps::LoadKind::batch && !steady) {
        at.problem(name_of(kind),
                   "needs \"output_tokens\" above 0: without the length of answers nothing says how long a request stays");
    }
    return kind;
}

}  // namespace treeline::requests
