#include "treeline/recommend.h"

#include <nlohmann/json.hpp>

#include "engines/priced_engine.h"
#include "reports/html.h"
#include "reports/recommend/page_names.h"
#include "reports/recommend/recommendation_output.h"
#include "requests/recommend/workload_file.h"

namespace treeline {
namespace {

WorkloadAnswer answered(sweeps::RecommendInput input, std::shared_ptr<const nlohmann::ordered_json> workload,
                        unsigned threads) {
    return {engines::answer(std::move(input), threads), std::move(workload)};
}

WorkloadAnswer answered(requests::WorkloadSource source, unsigned threads) {
    auto workload = std::make_shared<const nlohmann::ordered_json>(std::move(source.raw));
    return answered(std::move(source.input), std::move(workload), threads);
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
    require(plain_problems(workload.variants), problems_of(input.workload));
    return input;
}

WorkloadAnswer recommend(sweeps::RecommendInput input, unsigned threads) {
    require(problems_of(input.workload), {});
    return answered(std::move(input), nullptr, threads);
}

std::string as_table(const WorkloadAnswer& answer, const std::optional<std::string>& explain) {
    return reports::recommendation_table(answer, explain);
}

std::string as_json(const WorkloadAnswer& answer) {
    const nlohmann::ordered_json input = answer.workload ? *answer.workload : nlohmann::ordered_json();
    return reports::recommendation_json(answer, input).dump(2) + "\n";
}

std::string as_csv(const WorkloadAnswer& answer) { return reports::recommendation_csv(answer); }

std::string as_page(const WorkloadAnswer& answer) {
    return reports::render_html(reports::report_page_data(reports::with_names(answer)));
}

}  // namespace treeline
