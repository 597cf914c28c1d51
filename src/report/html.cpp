// SPDX-License-Identifier: Apache-2.0
// The page: a single file that contains everything; its sources are in src/report/html. What comes from a model reaches
// the page only as JSON, which contains no `<`, and is inserted as textContent.
#include "page_files.hpp"
#include "report/gap/gap_json.hpp"
#include "report/memory/memory_json.hpp"
#include "report/predict/predict_json.hpp"
#include "report/scale/scale_json.hpp"
#include "report/study/study_json.hpp"
#include <benanza/report/study_report.hpp>

#include <ostream>
#include <string>
#include <string_view>

namespace benanza {

using namespace format;

namespace {

/// JSON inside a script element: `</script>` and `<!--` in a name must not end or begin anything.
std::string harmless(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') text += "\\u003c";
    else text += c;
  }
  return text;
}

void write_page(std::ostream& out, const format::Json& data, std::string_view scripts = report::page_js) {
  using namespace report;
  std::string_view rest = page_html;
  const auto put = [&](std::string_view place, std::string_view content) {
    const auto at = rest.find(place);
    out << rest.substr(0, at) << content;
    rest.remove_prefix(at + place.size());
  };
  put("<!-- benanza:style -->", page_css);
  put("<!-- benanza:data -->", harmless(data.dump(-1, ' ', false, Json::error_handler_t::replace)));
  put("<!-- benanza:script -->", scripts);
  out << rest;
}

}  // namespace

void write_html(std::ostream& out, const BoundReport& report) { write_page(out, report::page_json(report)); }

void write_html(std::ostream& out, const Study& study) { write_page(out, report::study_json(study), report::study_js); }

void write_html(std::ostream& out, const GapReport& report) {
  format::Json data = report::page_json(report.bound);
  data["gap"] = report::gap_json(report);
  write_page(out, data);
}

void write_html(std::ostream& out, const MemoryReport& report) {
  write_page(out, report::memory_json(report), report::memory_js);
}

void write_html(std::ostream& out, const ScaleReport& report) {
  write_page(out, report::scale_json(report), report::scale_js);
}

void write_html(std::ostream& out, const PredictReport& report) {
  write_page(out, report::predict_json(report), report::predict_js);
}

}  // namespace benanza
