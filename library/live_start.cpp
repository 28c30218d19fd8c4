#include "library/live_start.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engines/engine.h"
#include "hardware/catalogue.h"
#include "models/catalogue.h"
#include "reports/live_page.h"
#include "reports/recommend/explored.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

/// The key of the trees that an engine takes ("sglang": {...}, docs/inputs.md); empty: it drafts chains only.
const char* form_of(engines::EngineTrees trees) {
    switch (trees) {
        case engines::EngineTrees::sglang:
            return "sglang";
        case engines::EngineTrees::tensorrt_llm:
            return "tensorrt_llm";
        case engines::EngineTrees::none:
            break;
    }
    return "";
}

/// What the form offers, by name and title; of engines also the form of their trees.
Json catalogue_json(const requests::Catalogue& catalogue) {
    Json devices = Json::array();
    for (const std::string& name : hardware::device_names(catalogue.hardware)) {
        devices.push_back({name, hardware::load_device(catalogue.hardware, name).value.title});
    }
    Json engines = Json::array();
    for (const engines::Engine& engine : engines::newest_engines()) {
        engines.push_back({engine.word, engine.label(), form_of(engine.trees)});
    }
    return {{"models", models::all_model_names(catalogue.models)}, {"devices", devices}, {"engines", engines}};
}

/// Bytes of a page.
constexpr std::size_t largest_page = 1'600'000;

/// The first of a list's rows.
void shorten(Json& rows, std::size_t most_rows) {
    if (rows.size() > most_rows) {
        rows.erase(rows.begin() + most_rows, rows.end());
    }
}

/// The front and plain decoding, of many points every few, and the first of the points behind them.
void shorten_behind_front(Json& points, std::size_t most) {
    const auto leads = [](const Json& point) { return point.value("on_front", false) || !point.value("speculative", true); };
    const auto leading = static_cast<std::size_t>(std::count_if(points.begin(), points.end(), leads));
    const std::size_t every = 1 + leading / (8 * most);
    std::size_t ahead = 0, behind = 0;
    Json kept = Json::array();
    for (Json& point : points) {
        if (leads(point) ? ahead++ % every == 0 : ++behind <= most) {
            kept.push_back(std::move(point));
        }
    }
    points = std::move(kept);
}

/// The lines of the few drafters that reach the most.
void keep_best_lines(Json& points, std::size_t most_lines) {
    std::map<std::string, double> best;
    for (const Json& point : points) {
        double& of_line = best[point.value("drafter", "")];
        of_line = std::max(of_line, point.value("speedup", 0.0));
    }
    std::vector<double> order;
    for (const auto& [drafter, speedup] : best) {
        order.push_back(speedup);
    }
    std::sort(order.begin(), order.end(), std::greater<>());
    const double least = order.size() > most_lines ? order[most_lines - 1] : 0.0;
    Json kept = Json::array();
    for (Json& point : points) {
        if (best.at(point.value("drafter", "")) >= least) {
            kept.push_back(std::move(point));
        }
    }
    points = std::move(kept);
}

/// Numbers with as many digits as charts and tables show, and some more.
void round_numbers(Json& tree) {
    if (tree.is_number_float()) {
        tree = std::strtod(fmt::format("{:.5g}", tree.get<double>()).c_str(), nullptr);
    } else if (tree.is_structured()) {
        for (Json& part : tree) {
            round_numbers(part);
        }
    }
}

/// The answer that a page is written with, shown until the library inside the page has given the same in full: lists have at
/// most so many entries, charts half as many points behind their front, and numbers are rounded.
Json written_answer(Json written, std::size_t most_rows) {
    Json& page = written["page"];
    const auto shorten_in = [&](Json& object, const char* key) {
        if (object.contains(key)) {
            shorten(object[key], most_rows);
        }
    };
    shorten_in(written, "drafters");
    shorten_in(page, "inputs");
    shorten_in(page, "notes");
    for (const char* table : {"candidates", "heatmap"}) {
        if (page.contains(table)) {
            shorten_in(page[table], "rows");
        }
    }
    if (page.contains("pareto")) {
        shorten_behind_front(page["pareto"], std::max<std::size_t>(1, most_rows / 2));
    }
    if (page.contains("by_draft_length")) {
        keep_best_lines(page["by_draft_length"], std::min<std::size_t>(most_rows, 3));
    }
    round_numbers(written);
    return written;
}

}  // namespace

const char* const first_question = R"({
  "title": "Llama-3.1-8B on one H100",
  "target": "llama-3.1-8b",
  "platforms": [{"device": "h100-sxm", "engine": "vllm"}],
  "drafters": ["eagle3-llama-3.1-8b", "ngram-llama-3.1-8b"],
  "draft_tokens": {"from": 1, "to": 8},
  "traffic": {"concurrency": [32]},
  "prompt_tokens": 1000,
  "output_tokens": 300
})";

std::string live_page(const sweeps::Answer& answer, const Json& question, const requests::Catalogue& catalogue) {
    const Json whole = reports::explored_json(answer);
    Json start = {{"title", answer.input.title},
                  {"version", TREELINE_VERSION},
                  {"question", question},
                  {"answer", nullptr},
                  {"catalogue", catalogue_json(catalogue)}};
    std::string page;
    for (const std::size_t most_rows : {40, 20, 10, 5, 1}) {
        start["answer"] = written_answer(whole, most_rows);
        page = reports::render_live_page(start);
        if (page.size() <= largest_page) {
            break;
        }
    }
    return page;
}

}  // namespace treeline
