// A sweep that keeps its own best: the most tokens/s of a device among points that give every user 80 tokens/s. Points go by in
// chunks, on all cores at once, so what is kept needs a lock; nothing else is stored.
#include <cstdio>
#include <mutex>

#include <treeline/sweep.h>

struct Best {
    double tokens_per_second = 0.0;
    std::string text = "no point is fast enough";
};

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: sweep AXES.json\n");
        return 2;
    }
    try {
        Best best;
        std::mutex mutex;
        treeline::SweepOptions options;
        options.visit = [&](const treeline::SweepChunk& chunk) {
            for (std::size_t i = 0; i < chunk.estimates.size(); ++i) {
                const treeline::RoundEstimate& estimate = chunk.estimates[i];
                if (!estimate.fits || estimate.tokens_per_second_user < 80.0) {
                    continue;
                }
                const std::lock_guard lock(mutex);
                if (estimate.tokens_per_second_device > best.tokens_per_second) {
                    const treeline::Speculation& shape = chunk.speculations[static_cast<std::size_t>(chunk.speculation[i])];
                    best = {estimate.tokens_per_second_device, chunk.variant.labels.text() + ", " + shape.label + ", batch " +
                                                                   std::to_string(static_cast<int>(chunk.batch[i]))};
                }
            }
        };
        const treeline::SweepResult result = treeline::sweep(treeline::sweep_input_file(argv[1]), options);
        std::printf("%llu points\n", static_cast<unsigned long long>(result.summary.points));
        std::printf("best: %s: %.0f tokens/s\n", best.text.c_str(), best.tokens_per_second);
    } catch (const treeline::InputError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
