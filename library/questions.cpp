#include "treeline/questions.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "library/handed_over.h"
#include "models/catalogue.h"
#include "reports/recommend/explored.h"
#include "requests/known_drafters.h"
#include "requests/setup_reader.h"
#include "sweeps/deadline.h"
#include "treeline/recommend.h"
#include "treeline/tree.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

struct Asked {
    std::string_view question;
    const requests::Catalogue& catalogue;
    const std::filesystem::path& folder;
};

constexpr unsigned one_thread = 1;  // browsers have no more, and answers do not depend on it

WorkloadAnswer recommended(const Asked& asked) {
    return recommend_json(asked.question, asked.catalogue, asked.folder, one_thread);
}

std::string recommend_text(const Asked& asked) { return as_json(recommended(asked)); }

std::string explored(const Asked& asked) { return reports::explored_json(recommended(asked)).dump(); }

std::string drafters_text(const Asked& asked) {
    const Json question = Json::parse(asked.question);
    const sim::Model target = models::load_model_of_any_format(asked.catalogue.models, question.value("target", "")).value;
    requests::Descriptions descriptions(asked.catalogue, asked.folder);
    Json list = Json::array();
    for (const requests::KnownDrafter& known : requests::known_drafters(target, descriptions)) {
        const sweeps::DrafterChoice choice = requests::published_choice(known.drafter, {}, descriptions);
        list.push_back({{"name", known.drafter.name},
                        {"title", known.drafter.title},
                        {"kind", Json::parse(known.drafter.description).value("kind", "")},
                        {"measured_with", known.drafter.target},
                        {"per_position", reports::positions_json(choice.acceptance.chain)}});
    }
    return list.dump();
}

std::string tree_text(const Asked& asked) {
    const Json question = Json::parse(asked.question);
    const sim::DraftTree tree =
        find_tree(question.value("shape", Json("")).is_string() ? question.value("shape", "") : question.at("shape").dump(),
                  question.value("per_rank", std::vector<double>()), asked.catalogue);
    Json parents = Json::array();
    for (int node = 1; node <= tree.nodes(); ++node) {
        parents.push_back(tree.parent(node));
    }
    return Json{{"parents", parents}}.dump();
}

std::string file_text(const Asked& asked) {
    const Json question = Json::parse(asked.question);
    return handed_over(question.value("name", ""), question.value("text", ""), asked.folder).dump();
}

struct Kind {
    std::string_view name;
    std::string (*answer)(const Asked& asked);
};

constexpr std::array<Kind, 5> kinds = {{{"recommend", recommend_text},
                                        {"explore", explored},
                                        {"drafters", drafters_text},
                                        {"tree", tree_text},
                                        {"file", file_text}}};

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string refused(const std::vector<std::string>& problems) { return dumped({{"problems", problems}}); }

constexpr const char* too_much_memory =
    "the question takes more memory than an answer may; ask for fewer configurations or loads";

}  // namespace

Answered answered(const std::function<std::string()>& answer) {
    try {
        return {Answered::Outcome::answered, answer()};
    } catch (const text::InputError& error) {
        return {Answered::Outcome::refused, refused(error.problems())};
    } catch (const nlohmann::json::exception&) {
        return {Answered::Outcome::refused, refused({"the question is not the JSON that is asked for"})};
    } catch (const sweeps::DeadlinePassed&) {
        return {Answered::Outcome::too_large,
                refused({"the question takes longer to answer than it may; ask for fewer configurations or loads"})};
    } catch (const std::bad_alloc&) {
        return {Answered::Outcome::too_large, refused({too_much_memory})};
    } catch (const std::length_error&) {
        return {Answered::Outcome::too_large, refused({too_much_memory})};
    } catch (const std::exception& error) {
        return {Answered::Outcome::failed, dumped({{"failure", error.what()}})};
    }
}

std::string answer_question(std::string_view kind, std::string_view question, const requests::Catalogue& catalogue,
                            const std::filesystem::path& folder) {
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& known) { return known.name == kind; });
    if (found == kinds.end()) {
        return refused({"there is no question \"" + std::string(kind) + "\""});
    }
    return answered([&] { return found->answer({question, catalogue, folder}); }).text;
}

}  // namespace treeline
