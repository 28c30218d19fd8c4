#include "library/live_start.h"

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
    return {{"models", models::model_names(catalogue.models)}, {"devices", devices}, {"engines", engines}};
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
    return reports::render_live_page({{"title", answer.input.title},
                                      {"version", TREELINE_VERSION},
                                      {"question", question},
                                      {"answer", reports::explored_json(answer)},
                                      {"catalogue", catalogue_json(catalogue)}});
}

}  // namespace treeline
