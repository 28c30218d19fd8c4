// What `treeline results` prints of a store.
#pragma once

#include <string>
#include <vector>

#include "requests/catalogue.h"
#include "store/store.h"

namespace treeline::store {

/// One command of `treeline results`.
struct ResultsRequest {
    std::string verb;  ///< of results_verbs()
    std::string store;
    std::vector<std::string> arguments;  ///< numbers of runs, an SQL statement, or files to merge
    std::string format = "table";        ///< table, csv or json

    [[nodiscard]] bool needs_catalogue() const { return verb == "diff" || verb == "merge"; }
};

struct ResultsVerb {
    std::string name, summary, arguments;  ///< what the arguments are, for the help
};
const std::vector<ResultsVerb>& results_verbs();

/// Its answer as text; throws InputError or OutputError.
std::string results_text(const ResultsRequest& request, const requests::Catalogue& catalogue);

}  // namespace treeline::store
