// A stranger's program: recommends from a JSON file and from structs, finds the same, and prints the schedule.
#include <cmath>
#include <cstdio>

#include <treeline/treeline.h>

using namespace treeline;

namespace {

/// examples/starter.json as structs.
RecommendInput starter_as_structs() {
    DrafterChoice eagle;
    eagle.label = "eagle3";
    eagle.drafter = OneLayerDrafter::published_eagle3();
    eagle.acceptance = Acceptance::per_position({0.605, 0.361, 0.233, 0.162, 0.118});
    DrafterChoice ngram;
    ngram.label = "ngram";
    ngram.drafter = NgramDrafter{};
    ngram.acceptance = Acceptance::per_position({0.132, 0.101, 0.083, 0.072, 0.063});

    VariantLists lists;
    lists.targets = {find_target("llama-3.1-8b")};
    lists.platforms = {find_platform("h100-sxm", "vllm")};
    lists.drafters = {eagle, ngram};

    Workload workload;
    workload.speculations = chains_up_to(5);
    workload.traffic = traffic_from({{1, 1.0}, {8, 1.0}, {32, 1.0}}, {{2048, 1.0}});
    return workload_of(lists, workload);
}

bool same(const Schedule& a, const Schedule& b) {
    bool equal = a.entries.size() == b.entries.size() && std::abs(a.gain - b.gain) < 1e-12;
    for (std::size_t i = 0; equal && i < a.entries.size(); ++i) {
        equal = a.entries[i].batch_from == b.entries[i].batch_from && a.entries[i].draft_tokens == b.entries[i].draft_tokens;
    }
    return equal;
}

}  // namespace

int main(int, char** arguments) {
    const Schedule from_file = recommend_file(arguments[1]).result.recommendation->schedule;
    const Schedule from_structs = recommend(starter_as_structs()).result.recommendation->schedule;
    for (const ScheduleEntry& entry : from_structs.entries) {
        std::printf("batch %d to %d: %d draft tokens, %.2fx\n", entry.batch_from, entry.batch_to, entry.draft_tokens,
                    entry.least);
    }
    try {
        recommend_json(R"({"target": "llama-3.1-8c"})");
    } catch (const InputError& error) {
        for (const std::string& problem : error.problems()) {
            std::printf("%s\n", problem.c_str());
        }
        return same(from_file, from_structs) && !from_file.entries.empty() ? 0 : 1;
    }
    return 1;
}
