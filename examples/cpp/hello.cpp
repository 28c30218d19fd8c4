// What to run for the workload in a file, and how many draft tokens at which batch.
#include <cstdio>

#include <treeline/recommend.h>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: hello WORKLOAD.json\n");
        return 2;
    }
    try {
        const treeline::WorkloadAnswer answer = treeline::recommend_file(argv[1]);
        if (!answer.result.recommendation) {
            std::puts("Nothing keeps the limits.");
            return 1;
        }
        const treeline::Recommendation& found = *answer.result.recommendation;
        const treeline::Candidate& best = found.candidates.front();
        std::printf("%s: %d draft tokens, %.2fx the tokens/s of plain decoding\n",
                    found.variants[best.variant].labels.text().c_str(), best.draft_tokens, best.gain);
        for (const treeline::ScheduleEntry& entry : found.schedule.entries) {
            std::printf("batch %d to %d: %d draft tokens\n", entry.batch_from, entry.batch_to, entry.draft_tokens);
        }
    } catch (const treeline::InputError& error) {  // one sentence a line: unknown names, bad values, keys that do not exist
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
