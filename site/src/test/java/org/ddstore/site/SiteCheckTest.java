// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SiteCheckTest {
  @Test
  void namesLinksWithoutATarget(@TempDir Path site) throws IOException {
    Files.writeString(site.resolve("site.css"), "");
    Files.writeString(
        site.resolve("a.html"),
        "<link href=\"site.css\"><img src=\"gone.png\"><a href=\"b.html#x%20y\">b</a>"
            + "<a href=\"b.html#gone\">b</a><a href=\"https://other.example/\">c</a>");
    Files.writeString(
        site.resolve("b.html"),
        "<p id=\"x y\"><a href=\"#List&lt;T&gt;\">t</a><p id=\"List&lt;T&gt;\">"
            + "<a href=\"../a.html\">a</a>");

    SiteCheck.Result check = SiteCheck.of(site);

    assertThat(check.count()).isEqualTo(6);
    assertThat(check.problems())
        .containsExactlyInAnyOrder(
            "a.html: gone.png: there is no such file",
            "a.html: b.html#gone: there is no such anchor",
            "b.html: ../a.html: there is no such file");
  }
}
