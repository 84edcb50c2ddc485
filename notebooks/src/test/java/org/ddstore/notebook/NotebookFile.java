// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A notebook in the format of Jupyter, 4.5.
 *
 * @param path path of the file
 * @param json content
 */
record NotebookFile(Path path, JsonNode json) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Tag of cells whose outputs depend on the time or on the machine. */
  private static final String MEASURED = "measured";

  static NotebookFile read(Path path) throws IOException {
    return new NotebookFile(path, JSON.readTree(path.toFile()));
  }

  /** Returns the notebooks of this project, in the order of their numbers. */
  static List<NotebookFile> ofProject() throws IOException {
    List<NotebookFile> notebooks = new ArrayList<>();
    try (Stream<Path> files =
        Files.list(Path.of(System.getProperty("ddstore.root"), "notebooks"))) {
      for (Path file : files.filter(each -> each.toString().endsWith(".ipynb")).sorted().toList()) {
        notebooks.add(read(file));
      }
    }
    return notebooks;
  }

  List<JsonNode> cells() {
    return elements(json.get("cells"));
  }

  List<JsonNode> codeCells() {
    return cells().stream().filter(cell -> cell.get("cell_type").asText().equals("code")).toList();
  }

  /** Returns the options of {@code ./ddstore notebook} that the cells need. */
  List<String> options() {
    return elements(json.at("/metadata/ddstore/options")).stream().map(JsonNode::asText).toList();
  }

  /** Returns the texts that each cell prints and shows, without pictures. */
  static List<String> texts(JsonNode cell) {
    List<String> texts = new ArrayList<>();
    for (JsonNode output : cell.get("outputs")) {
      texts.add(text(output.path("text")));
      for (Map.Entry<String, JsonNode> form : output.path("data").properties()) {
        if (form.getKey().startsWith("text/")) {
          texts.add(text(form.getValue()));
        }
      }
    }
    return texts;
  }

  /** Returns a text that the file keeps as one string or as a list of lines. */
  static String text(JsonNode value) {
    return value.isArray()
        ? String.join("", elements(value).stream().map(JsonNode::asText).toList())
        : value.asText();
  }

  static boolean isMeasured(JsonNode cell) {
    return elements(cell.at("/metadata/tags")).stream()
        .anyMatch(tag -> tag.asText().equals(MEASURED));
  }

  private static List<JsonNode> elements(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).toList();
  }

  @Override
  public String toString() {
    return path.getFileName().toString();
  }
}
