#include "treeline/recommend.h"

#include <nlohmann/json.hpp>

#include "reports/html.h"
#include "reports/recommend/recommendation_output.h"
#include "requests/recommend/workload_file.h"

namespace treeline {
namespace {

WorkloadAnswer answered(sweeps::RecommendInput input, std::shared_ptr<const nlohmann::ordered_json> workload,
                        unsigned threads) {
    return {sweeps::answer(std::move(input), threads), std::move(workload)};
}

WorkloadAnswer answered(requests::WorkloadSource source, unsigned threads) {
    auto workload = std::make_shared<const nlohmann::ordered_json>(std::move(source.raw));
    return answered(std::move(source.input), std::move(workload), threads);
}

std::vector<engines::Engine> engines_named(const std::vector<std::string>& names) {
    std::vector<engines::Engine> engines;
    for (const std::string& name : names) {
        engines.push_back(engines::find_engine(name));
    }
    return engines.empty() ? engines::newest_engines() : engines;
}

void require(std::vector<std::string> problems, const std::vector<std::string>& more) {
    problems.insert(problems.end(), more.begin(), more.end());
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
}

}  // namespace

WorkloadAnswer recommend_file(const std::filesystem::path& file, const requests::Catalogue& catalogue, unsigned threads) {
    return answered(read_workload(file.string(), requests::WorkloadFlags{}, catalogue), threads);
}

WorkloadAnswer recommend_json(std::string_view text, const requests::Catalogue& catalogue, const std::filesystem::path& folder,
                              unsigned threads) {
    return answered(requests::read_workload_text(text, "workload", folder, catalogue), threads);
}

sweeps::RecommendInput workload_of(const sweeps::VariantLists& lists, sweeps::Workload rest, double output_tokens) {
    if (lists.targets.empty() || lists.platforms.empty() || lists.drafters.empty()) {
        throw text::InputError({"a workload needs at least one target, platform and drafter"});
    }
    sweeps::RecommendInput input;
    input.target = lists.targets.front();
    input.drafters = lists.drafters;
    input.workload = std::move(rest);
    sweeps::Workload& workload = input.workload;
    workload.variants = sweeps::all_variants(lists);
    const bool states_prompt = workload.prompt_tokens > 0.0;
    if (!states_prompt && !workload.traffic.points.empty()) {
        workload.prompt_tokens = sweeps::typical_point(workload.traffic).context;
    }
    for (sweeps::Variant& variant :
         workload.variants) {  // memory is that of the prompts if the workload says how long they are
        variant.setup.prompt_tokens = states_prompt || output_tokens > 0.0 ? workload.prompt_tokens : 0.0;
        variant.setup.output_tokens = output_tokens;
    }
    input.title = input.workload.title.empty() ? "Speculative decoding of " + input.target.label : input.workload.title;
    require(sweeps::platform_problems(lists), problems_of(input.workload));
    return input;
}

WorkloadAnswer recommend(sweeps::RecommendInput input, unsigned threads) {
    require(problems_of(input.workload), {});
    return answered(std::move(input), nullptr, threads);
}

std::string as_table(const WorkloadAnswer& answer, const std::vector<std::string>& engines,
                     const std::optional<std::string>& explain) {
    return reports::recommendation_table(answer, engines_named(engines), explain);
}

std::string as_json(const WorkloadAnswer& answer, const std::vector<std::string>& engines) {
    const nlohmann::ordered_json input = answer.workload ? *answer.workload : nlohmann::ordered_json();
    return reports::recommendation_json(answer, input, engines_named(engines)).dump(2) + "\n";
}

std::string as_csv(const WorkloadAnswer& answer) { return reports::recommendation_csv(answer); }

std::string as_page(const WorkloadAnswer& answer, const std::vector<std::string>& engines) {
    return reports::render_html(reports::report_page_data(answer, engines_named(engines)));
}

}  // namespace treeline
