// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SearchIndexTest {
  @Test
  void hasTheTextOfEachSection(@TempDir Path root) throws IOException {
    SmallProject project =
        SmallProject.create(root)
            .with(
                "docs/page.md",
                """
                # A "page" \\ of `code`

                First
                words.

                ```mermaid
                flowchart LR
                ```

                ## Rows

                | option | effect |
                |---|---|
                | `--rows` | number |

                - one
                - two
                """);

    String script = SearchIndex.of(project.pages(), ApiTypes.NONE);

    assertThat(script).startsWith("window.searchIndex = [").endsWith("];\n");
    JsonNode index =
        new ObjectMapper().readTree(script.substring(script.indexOf('['), script.length() - 2));
    assertThat(index.get(0).get(0).asText()).isEqualTo("index.html");
    assertThat(index.get(2).toString())
        .isEqualTo(
            "[\"docs/page.html\",\"A \\\"page\\\" \\\\ of code\","
                + "[[\"a-page--of-code\",\"A \\\"page\\\" \\\\ of code\",\"First words.\",\"\"],"
                + "[\"rows\",\"Rows\",\"option effect --rows number one two\",\"--rows\"]]]");
  }
}
