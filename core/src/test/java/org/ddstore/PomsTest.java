// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that several poms state are the same in all of them. */
class PomsTest {
  private static final Path ROOT = Path.of(System.getProperty("ddstore.root"));

  /** An element of the project itself: the first one of this name with this indentation. */
  private static String projectElement(String pom, String name) throws IOException {
    return first(pom, "\\n  <%s>([^<]*)</".formatted(name));
  }

  private static String property(String name) throws IOException {
    return first("pom.xml", "\\n    <%s>([^<]*)</".formatted(Pattern.quote(name)));
  }

  private static String first(String pom, String pattern) throws IOException {
    Matcher matcher = Pattern.compile(pattern).matcher(Files.readString(ROOT.resolve(pom)));
    assertThat(matcher.find()).as("%s in %s", pattern, pom).isTrue();
    return matcher.group(1);
  }

  @Test
  void billOfMaterialsHasTheVersionAndUrlOfTheProject() throws IOException {
    String bom = "bom/pom.xml";
    String url = property("ddstore.url");

    assertThat(projectElement(bom, "version")).isEqualTo(projectElement("pom.xml", "version"));
    assertThat(projectElement(bom, "url")).isEqualTo(url);
    assertThat(first(bom, "<scm>\\s*<connection>scm:git:([^<]*)\\.git<")).isEqualTo(url);
  }

  @Test
  void billOfMaterialsHasThePluginsOfTheProject() throws IOException {
    for (String plugin : List.of("deploy", "gpg", "install")) {
      String artifact = "maven-%s-plugin".formatted(plugin);
      assertThat(first("bom/pom.xml", artifact + "</artifactId>\\s*<version>([^<]*)<"))
          .as(artifact)
          .isEqualTo(property(artifact + ".version"));
    }
  }

  @Test
  void sourcesForUsersAreThoseOfTheirPackages() throws IOException {
    List<String> sources =
        Arrays.stream(property("ddstore.user.packages").split(",", -1))
            .map(name -> name.replace('.', '/') + "/*.java")
            .toList();
    assertThat(property("ddstore.user.sources").split(",", -1)).containsExactlyElementsOf(sources);
  }

  @ParameterizedTest
  @ValueSource(strings = {"core", "formats", "spark-connector"})
  void javadocOfAModuleCoversItsPackagesForUsers(String module) throws IOException {
    String all = property("ddstore.user.sources");
    String declared = first(module + "/pom.xml", "\\n    <ddstore.javadoc.sources>([^<]*)</");
    String published = declared.replace("${ddstore.user.sources}", all);
    Path folder = ROOT.resolve(module).resolve("src/main/java");
    List<String> sources =
        Arrays.stream(all.split(",", -1))
            .filter(source -> Files.exists(folder.resolve(source.replace("*", "package-info"))))
            .toList();

    assertThat(sources).isNotEmpty();
    assertThat(published.split(",", -1)).containsAll(sources);
  }
}
