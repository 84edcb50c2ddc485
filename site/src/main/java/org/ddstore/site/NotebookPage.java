// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.commonmark.node.Document;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.Node;

/**
 * The page of a notebook of Jupyter: its Markdown, its code, and the outputs in the file. The tree
 * is that of a page in Markdown, with code in fenced blocks, and pictures as HTML that contains
 * their bytes.
 */
final class NotebookPage {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Forms of an output that is a picture; an SVG is text in the file, others are in base64. */
  private static final String SVG = "image/svg+xml";

  private static final List<String> PICTURES = List.of(SVG, "image/png");

  private final String path;
  private final String json;
  private final Node tree = new Document();

  /** Place in the file from which the text of the next cell is searched. */
  private int position;

  private NotebookPage(String path, String json) {
    this.path = path;
    this.json = json;
  }

  /**
   * Returns the page of a notebook of nbformat 4.
   *
   * @param path path of its file below the root folder of the project
   * @param json content of the file
   * @throws IllegalArgumentException if a cell or an output is of an unknown type
   * @throws IOException if the content is not JSON
   */
  static Page parse(String path, String json) throws IOException {
    NotebookPage notebook = new NotebookPage(path, json);
    for (JsonNode cell : JSON.readTree(json).path("cells")) {
      notebook.addCell(cell);
    }
    return Page.of(path, notebook.tree);
  }

  private void addCell(JsonNode cell) throws IOException {
    String source = text(cell.path("source"));
    String type = cell.path("cell_type").asText();
    if (type.equals("markdown")) {
      // Empty lines before the text give its nodes the numbers of the lines in the file.
      Node text = Page.parseTree("\n".repeat(linesBefore(cell.path("source"))) + source);
      while (text.getFirstChild() != null) {
        tree.appendChild(text.getFirstChild());
      }
    } else if (type.equals("code")) {
      addBlock(source.startsWith("%%sql") ? "sql" : "java", source);
      for (JsonNode output : cell.path("outputs")) {
        addOutput(output);
      }
    } else {
      throw unknown("cell", type, "markdown, code");
    }
  }

  /** Returns the number of lines in the file before the text of a cell, and continues behind it. */
  private int linesBefore(JsonNode source) throws IOException {
    JsonNode first = source.isArray() && !source.isEmpty() ? source.get(0) : source;
    String text = JSON.writeValueAsString(first);
    int found = Math.max(json.indexOf(text, position), position);
    position = found + text.length();
    return (int) json.substring(0, found).chars().filter(c -> c == '\n').count();
  }

  private void addOutput(JsonNode output) {
    JsonNode data = output.path("data");
    addHtml("<div class=\"output\">");
    if (output.path("output_type").asText().equals("stream")) {
      addBlock("text", text(output.path("text")));
    } else if (data.has("text/html")) {
      addHtml(text(data.path("text/html")));
    } else if (PICTURES.stream().anyMatch(data::has)) {
      String form = PICTURES.stream().filter(data::has).findFirst().orElseThrow();
      addPicture(form, text(data.path(form)), text(data.path("text/plain")));
    } else if (data.has("text/plain")) {
      addBlock("text", text(data.path("text/plain")));
    } else {
      String forms = data.properties().stream().map(Map.Entry::getKey).toList().toString();
      String type = output.path("output_type").asText() + " " + forms;
      throw unknown("output", type, "stream, text/html, image/svg+xml, image/png, text/plain");
    }
    addHtml("</div>");
  }

  /** Adds a picture as an element of its own, so that names in an SVG do not meet others. */
  private void addPicture(String form, String picture, String description) {
    String bytes =
        form.equals(SVG)
            ? Base64.getEncoder().encodeToString(picture.getBytes(UTF_8))
            : picture.replaceAll("\\s", "");
    addHtml(
        "<img src=\"data:%s;base64,%s\" alt=\"%s\">"
            .formatted(form, bytes, PageFrame.escape(description)));
  }

  private void addBlock(String language, String text) {
    FencedCodeBlock block = new FencedCodeBlock();
    block.setInfo(language);
    block.setLiteral(text.stripTrailing() + "\n");
    tree.appendChild(block);
  }

  private void addHtml(String html) {
    HtmlBlock block = new HtmlBlock();
    block.setLiteral(html);
    tree.appendChild(block);
  }

  /** Returns a text that the file has as one string or as a list of lines. */
  private static String text(JsonNode value) {
    return value.isArray()
        ? StreamSupport.stream(value.spliterator(), false)
            .map(JsonNode::asText)
            .collect(Collectors.joining())
        : value.asText();
  }

  private IllegalArgumentException unknown(String part, String type, String legal) {
    return new IllegalArgumentException(
        "%s: %s of type \"%s\" cannot be rendered, legal: %s".formatted(path, part, type, legal));
  }
}
