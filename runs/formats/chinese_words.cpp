#include "runs/formats/chinese_words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace treeline::runs::run_formats_of {

bool may_be_chinese(std::string_view line) {
    return std::any_of(line.begin(), line.end(), [](unsigned char c) { return c >= 0xE3 && c <= 0xEF; });  // from U+3000 on
}

std::string in_english(std::string_view line) {
    using Word = std::pair<std::string_view, std::string_view>;
    // A longer word stands before those that it begins with.
    static constexpr std::array<Word, 56> words = {{{"，", ", "},
                                                    {"。", ". "},
                                                    {"：", ": "},
                                                    {"；", "; "},
                                                    {"、", ", "},
                                                    {"（", " ("},
                                                    {"）", ") "},
                                                    {"＝", "="},
                                                    {"％", "%"},
                                                    {"～", "-"},
                                                    {"单并发", " single request "},
                                                    {"单请求", " single request "},
                                                    {"单流", " single stream "},
                                                    {"并发数", " concurrency "},
                                                    {"并发", " concurrency "},
                                                    {"批大小", " batch size "},
                                                    {"批次", " batch "},
                                                    {"输入长度", " input length "},
                                                    {"输入", " input "},
                                                    {"输出长度", " output length "},
                                                    {"输出吞吐", " output throughput "},
                                                    {"输出", " output "},
                                                    {"上下文长度", " context length "},
                                                    {"上下文", " context "},
                                                    {"平均接受长度", " accept length "},
                                                    {"平均接收长度", " accept length "},
                                                    {"接受长度", " accept length "},
                                                    {"接收长度", " accept length "},
                                                    {"接受率", " acceptance rate "},
                                                    {"接收率", " acceptance rate "},
                                                    {"命中率", " acceptance rate "},
                                                    {"不开启", " without "},
                                                    {"未开启", " without "},
                                                    {"不开", " without "},
                                                    {"未开", " without "},
                                                    {"关闭", " without "},
                                                    {"开启", " with "},
                                                    {"打开", " with "},
                                                    {"基线", " baseline "},
                                                    {"草稿长度", " draft length "},
                                                    {"草稿", " draft "},
                                                    {"投机解码", " speculation "},
                                                    {"投机推理", " speculation "},
                                                    {"投机", " speculative "},
                                                    {"推测解码", " speculation "},
                                                    {"首字时延", " TTFT "},
                                                    {"首字延迟", " TTFT "},
                                                    {"首token时延", " TTFT "},
                                                    {"首token延迟", " TTFT "},
                                                    {"吞吐量", " throughput "},
                                                    {"吞吐", " throughput "},
                                                    {"加速比", " speedup "},
                                                    {"平均", " mean "},
                                                    {"指标", " metric "},
                                                    {"模型", " model "},
                                                    {"配置", " config "}}};
    std::string text;
    while (!line.empty()) {
        const bool ascii = static_cast<unsigned char>(line.front()) < 0x80;
        const auto found =
            ascii ? words.end()
                  : std::find_if(words.begin(), words.end(), [&](const Word& word) { return line.starts_with(word.first); });
        if (found == words.end()) {
            text += line.front();
            line.remove_prefix(1);
        } else {
            text += found->second;
            line.remove_prefix(found->first.size());
        }
    }
    return text;
}

}  // namespace treeline::runs::run_formats_of
