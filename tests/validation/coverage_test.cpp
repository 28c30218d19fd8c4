// Is every published number accounted for? Cell by cell, the tables of ../shared/published that hold results must be those of
// calibrate/published: predicted, fitted, or listed with the reason why not.
#include <fstream>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "requests/validate/experiment_reader.h"
#include "shared_measurements.h"
#include "source_folder.h"

namespace coverage_test {

using namespace treeline;

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const fs::path source = treeline::testing::source_folder();

/// Numbers as they are printed, and how often. "null": a cell without a number.
using Cells = std::multiset<std::string>;

Json parsed(const fs::path& path) {
    std::ifstream file(path);
    return Json::parse(file);
}

std::string text_of(const Json& number) { return number.is_number() ? Json(number.get<double>()).dump() : number.dump(); }

/// Of the tables that hold results: what was measured, or what another model says.
std::map<std::string, Cells> published_cells(const Json& file) {
    std::map<std::string, Cells> tables;
    for (const Json& table : file.at("tables")) {
        if (table.at("role") != "input") {
            for (const Json& row : table.at("rows")) {
                tables[table.at("id")].insert(text_of(row.at("value")));
            }
        }
    }
    return tables;
}

Cells accounted_cells(const Json& experiments, const std::string& table_id) {
    Cells cells;
    for (const Json& table : experiments.at("tables")) {
        for (const Json& row : table.at("id") == table_id ? table.at("rows") : Json::array()) {
            if (!row.contains("printed")) {
                cells.insert(text_of(row.at("value")));
            } else {
                for (const Json& cell : row.at("printed")) {
                    cells.insert(text_of(cell));
                }
            }
        }
    }
    return cells;
}

}  // namespace

TEST_CASE("Every cell of the published tables is predicted, fitted, or listed with a reason", "[shared]") {
    const auto shared = treeline::testing::shared_measurements("published");
    if (!shared) {
        return;
    }
    std::size_t cells = 0;
    for (const auto& [theirs, ours] : {std::pair{"spire", "spire"},
                                       {"snakes_and_ladders", "snakes-and-ladders"},
                                       {"stree", "stree"},
                                       {"mamba_drafters", "mamba-drafters"},
                                       {"specmamba", "specmamba"}}) {
        const Json experiments = parsed(source / "calibrate/published" / (std::string(ours) + ".json"));
        for (const auto& [table, published] : published_cells(parsed(*shared / (std::string(theirs) + ".json")))) {
            INFO(theirs << ", " << table);
            CHECK(published == accounted_cells(experiments, table));
            cells += published.size();
        }
    }
    // 32 + 24 + 16 + 8 + 4 + 2 + 4 + 4 + 5 of Mamba drafters, 18 + 4 + 24 + 8 + 8 + 6 + 10 of Snakes and Ladders, 2 + 54 + 9 +
    // 2 of SPIRe, 16 + 16 + 12 + 3 + 6 + 21 of STree, 2 + 3 + 1 + 8 + 3 of SpecMamba.
    CHECK(cells == 99 + 78 + 67 + 74 + 17);
}

TEST_CASE("Every row of the published experiments can be predicted or says why not") {
    const requests::Catalogue catalogue = {source / "models", source / "hardware"};
    const requests::ExperimentFiles files = requests::read_experiments({source / "calibrate/published"}, catalogue);
    CHECK(files.problems == std::vector<std::string>{});
    CHECK(files.papers.size() == 6);
    for (const validation::Experiments& paper : files.papers) {
        for (const validation::ExperimentTable& table : paper.tables) {
            for (const validation::ExperimentRow& row : table.rows) {
                INFO(paper.paper << ", " << table.id << ", " << row.name);
                CHECK(row.point.has_value() == row.not_reproduced.empty());
                CHECK((row.measured > 0.0 || !validation::has_number(row) || !row.not_reproduced.empty()));
            }
        }
    }
}

}  // namespace coverage_test
