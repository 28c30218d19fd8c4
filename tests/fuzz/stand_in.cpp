// Stands in for libFuzzer where the compiler is not Clang: reads every file of a corpus, then a stated number of mutations of
// them, the same ones on every machine. An input that ends the program is left in a file.
//
//     treeline_fuzz TARGET RUNS [--dictionary FILE] FILE|FOLDER...
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "numerics/random.h"
#include "targets.h"

namespace {

using treeline::numerics::Random;

constexpr std::size_t longest = 1u << 16;
constexpr unsigned longest_seconds = 20;  ///< of one input: with sanitizers, on a busy machine

std::string current, left_in;

/// Only what a signal handler may call.
void leave_input(int signal) {
    const int file = ::open(left_in.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
        const ssize_t written = ::write(file, current.data(), current.size());
        static_cast<void>(written);
        ::close(file);
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    return text.substr(0, longest);
}

std::vector<std::string> corpus_of(const std::vector<std::string>& places) {
    std::vector<std::filesystem::path> files;
    for (const std::string& place : places) {
        if (std::filesystem::is_directory(place)) {
            for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
                if (entry.is_regular_file() && entry.path().extension() != ".md") {
                    files.push_back(entry.path());
                }
            }
        } else {
            files.emplace_back(place);
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<std::string> corpus;
    for (const std::filesystem::path& file : files) {
        corpus.push_back(content_of(file));
    }
    return corpus;
}

/// Words in quotes, one a line, with \xNN, \\ and \" as libFuzzer reads them; lines with # are remarks.
std::vector<std::string> words_of(const std::string& file) {
    std::vector<std::string> words;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const std::size_t first = line.find('"'), last = line.rfind('"');
        if (line.starts_with("#") || first == std::string::npos || last <= first) {
            continue;
        }
        std::string word;
        for (std::size_t i = first + 1; i < last; ++i) {
            if (line[i] == '\\' && i + 3 < last + 1 && line[i + 1] == 'x') {
                word += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
                i += 3;
            } else {
                i += line[i] == '\\' ? 1 : 0;
                word += line[i];
            }
        }
        words.push_back(word);
    }
    return words;
}

class Mutator {
public:
    Mutator(const std::vector<std::string>& corpus, const std::vector<std::string>& words) : corpus_(corpus), words_(words) {}

    std::string next() {
        std::string text = corpus_[at(corpus_.size())];
        for (int changes = 1 + random_.below(6); changes > 0; --changes) {
            change(text);
        }
        return text.substr(0, longest);
    }

private:
    std::size_t at(std::size_t size) { return static_cast<std::size_t>(random_.below(static_cast<int>(size))); }

    void change(std::string& text) {
        const std::size_t place = at(text.size() + 1), length = std::min(text.size() - place, at(40));
        switch (random_.below(8)) {
            case 0:
                return void(text.erase(place, length));
            case 1:
                return void(text.insert(place, text.substr(at(text.size() + 1), length)));
            case 2:
                return void(text.insert(place, words_.empty() ? "0" : words_[at(words_.size())]));
            case 3:
                return void(text.replace(place, length, words_.empty() ? "-1" : words_[at(words_.size())]));
            case 4: {
                const std::string& other = corpus_[at(corpus_.size())];
                const std::size_t from = at(other.size() + 1);
                return void(text.insert(place, other.substr(from, at(200))));
            }
            case 5:
                return change_number(text, place);
            case 6:
                return place < text.size() ? void(text[place] = static_cast<char>(random_.below(256))) : void();
            default:
                return place < text.size() ? void(text[place] = static_cast<char>(text[place] ^ (1 << random_.below(8))))
                                           : void();
        }
    }

    /// The next number of the text becomes one that limits are made of.
    void change_number(std::string& text, std::size_t from) {
        static const char* const numbers[] = {"0",   "-1",  "1e308", "1e-308", "2147483648", "9223372036854775808",
                                              "0.5", "1e9", "null",  "[]"};
        const std::size_t first = text.find_first_of("0123456789", from);
        if (first != std::string::npos) {
            const std::size_t last = text.find_first_not_of("0123456789.eE+-", first);
            text.replace(first, last == std::string::npos ? last : last - first, numbers[at(std::size(numbers))]);
        }
    }

    const std::vector<std::string>& corpus_;
    const std::vector<std::string>& words_;
    Random random_{1};
};

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> arguments(argv + 1, argv + argc), words;
    if (arguments.size() < 3) {
        std::fputs("usage: treeline_fuzz TARGET RUNS [--dictionary FILE] FILE|FOLDER...\n", stderr);
        return 2;
    }
    const treeline::fuzz::Target& target = treeline::fuzz::target_named(arguments[0]);
    const int runs = std::stoi(arguments[1]);
    arguments.erase(arguments.begin(), arguments.begin() + 2);
    if (arguments[0] == "--dictionary") {
        words = words_of(arguments.at(1));
        arguments.erase(arguments.begin(), arguments.begin() + 2);
    }
    left_in = std::string("crash-") + target.name;
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGALRM}) {
        std::signal(signal, leave_input);
    }
    const std::vector<std::string> corpus = corpus_of(arguments);
    if (corpus.empty()) {
        std::fputs("the corpus is empty\n", stderr);
        return 2;
    }
    Mutator mutator(corpus, words);
    double slowest = 0.0;
    for (std::size_t run = 0; run < corpus.size() + static_cast<std::size_t>(runs); ++run) {
        current = run < corpus.size() ? corpus[run] : mutator.next();
        const auto start = std::chrono::steady_clock::now();
        ::alarm(longest_seconds);
        treeline::fuzz::answered(target.read, current);
        ::alarm(0);
        slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf("%s: %zu files, %d mutations, the slowest took %.0f ms\n", target.name, corpus.size(), runs, 1e3 * slowest);
    return 0;
}
