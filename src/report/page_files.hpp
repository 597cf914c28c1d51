// SPDX-License-Identifier: Apache-2.0
// The files of src/report/html, which the build embeds in the program (cmake/EmbedFiles.cmake).
#pragma once

#include <string_view>

namespace benanza::report {

extern const std::string_view page_html;  ///< has a marker each for the style, data and script
extern const std::string_view page_css;
extern const std::string_view memory_js;   ///< the scripts of the page of `memory`
extern const std::string_view predict_js;  ///< the scripts of the page of `predict`
extern const std::string_view scale_js;    ///< the scripts of the page of `scale`
extern const std::string_view study_js;    ///< the scripts of the page of `study`
extern const std::string_view page_js;     ///< all scripts, in the order in which they run

}  // namespace benanza::report
