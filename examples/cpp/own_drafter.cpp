// A drafter of one's own as structs: two layers of Llama-3.2-1B under its head, with the acceptance that a test run logged. How
// does it compare with the whole model? (Both acceptances are made up.)
#include <cstdio>

#include <treeline/treeline.h>

using namespace treeline;

int main() {
    const TargetChoice target = find_target("llama-3.1-8b");

    const Model published = find_target("llama-3.2-1b").model;
    Model own = published;
    own.name = "two-layers";
    own.order.resize(2);               // the layers from input to output
    own.published_parameters.reset();  // those of the whole model

    DrafterChoice mine;
    mine.label = "two layers";
    mine.drafter = IndependentDrafter{own, own.precision};
    mine.acceptance = Acceptance::per_position({0.62, 0.37, 0.21, 0.12});  // P(the first 1, 2, ... drafts are all accepted)

    DrafterChoice whole;
    whole.label = published.name;
    whole.drafter = IndependentDrafter{published, published.precision};
    whole.acceptance = Acceptance::per_position({0.78, 0.62, 0.50, 0.40});

    Workload workload;
    workload.title = "A drafter of two layers";
    workload.speculations = chains_up_to(4);
    workload.traffic = traffic_from({{1.0, 0.5}, {16.0, 0.5}}, {{2048.0, 1.0}});  // batch and context, each with its share
    workload.objective = Objective::latency;

    VariantLists lists;
    lists.targets = {target};
    lists.platforms = {find_platform("h100-sxm", "vllm")};
    lists.drafters = {mine, whole};

    const WorkloadAnswer answer = recommend(workload_of(lists, workload));
    const Recommendation& found = *answer.result.recommendation;
    for (const Candidate* candidate : {&found.candidates.front(), &found.runners_up.front()}) {
        std::printf("%-14s %d draft tokens: %.2fx, %.2f ms a token\n",
                    found.variants[candidate->variant].labels.drafter.c_str(), candidate->draft_tokens, candidate->gain,
                    1e3 * candidate->time_per_token.value());
    }
}
