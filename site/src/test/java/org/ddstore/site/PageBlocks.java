// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.Node;
import org.commonmark.node.SourceSpan;

/**
 * The blocks of code of a page, with what its comments tell about them. CONTRIBUTING.md describes
 * the comments.
 */
final class PageBlocks extends AbstractVisitor {
  private static final String OUTPUT = "text";
  private static final Pattern COMMENT = Pattern.compile("(?s)<!--\\s*(.*?)\\s*-->\\s*");
  private static final Pattern NOT_RUN = Pattern.compile("(?s)not run:\\s*(.*)");
  private static final Pattern SET_UP = Pattern.compile("(?s)set-up \\((\\w+)\\)\n(.*)");
  private static final Pattern EXPECTED = Pattern.compile("output:\\s*(.*)");

  private final Page page;
  private final List<CodeBlock> blocks = new ArrayList<>();

  /** Reason why the next block is not run; null if no comment gives one. */
  private String reason;

  /** Whether numbers of the next output differ between runs. */
  private boolean differs;

  /** Whether the next output belongs to the last block. */
  private boolean awaitsOutput;

  private PageBlocks(Page page) {
    this.page = page;
  }

  /**
   * Returns the blocks of a page in their order. The output of a block is the next one in the same
   * section, if its language is {@code text}. A notebook has none: other tests run its cells.
   *
   * @throws IllegalArgumentException if a comment is unknown, or no block follows it
   */
  static List<CodeBlock> of(Page page) {
    PageBlocks all = new PageBlocks(page);
    if (page.isNotebook()) {
      return all.blocks;
    }
    page.tree().accept(all);
    all.endSection(page.tree());
    return all.blocks;
  }

  private void endSection(Node place) {
    if (reason != null || differs) {
      throw illegal(place, "no block follows the comment before this line");
    }
    awaitsOutput = false;
  }

  private IllegalArgumentException illegal(Node place, String problem) {
    return new IllegalArgumentException("%s:%d: %s".formatted(page, Page.line(place), problem));
  }

  @Override
  public void visit(Heading heading) {
    endSection(heading);
  }

  @Override
  public void visit(HtmlBlock html) {
    Matcher comment = COMMENT.matcher(html.getLiteral());
    if (!comment.matches()) {
      return;
    }
    Matcher notRun = NOT_RUN.matcher(comment.group(1));
    Matcher setUp = SET_UP.matcher(comment.group(1));
    Matcher expected = EXPECTED.matcher(comment.group(1));
    if (notRun.matches()) {
      reason = notRun.group(1);
    } else if (setUp.matches()) {
      add(html, setUp.group(1), setUp.group(2));
    } else if (expected.matches()) {
      differs = expected.group(1).equals("differs");
      if (expected.group(1).equals("paste")) {
        addOutput(html, "", true);
      } else if (!differs) {
        throw illegal(html, "\"output: %s\", legal: differs, paste".formatted(expected.group(1)));
      }
    }
  }

  @Override
  public void visit(FencedCodeBlock block) {
    String language = block.getInfo() == null ? "" : block.getInfo().strip();
    if (language.equals(OUTPUT) && awaitsOutput) {
      addOutput(block, block.getLiteral(), false);
      return;
    }
    if (differs) {
      throw illegal(block, "a comment about an output before a block that is none");
    }
    add(block, language, block.getLiteral());
    awaitsOutput = !language.equals(OUTPUT);
  }

  private void add(Node node, String language, String code) {
    Optional<String> notRun = Optional.ofNullable(reason);
    blocks.add(new CodeBlock(page, Page.line(node) + 1, language, code, notRun, Optional.empty()));
    reason = null;
  }

  private void addOutput(Node node, String text, boolean isMissing) {
    if (!awaitsOutput) {
      throw illegal(node, "an output without a block of code before it");
    }
    List<SourceSpan> spans = node.getSourceSpans();
    int fence = isMissing ? 0 : 1;
    BlockOutput output =
        new BlockOutput(
            text,
            differs,
            isMissing,
            spans.get(0).getLineIndex() + fence,
            spans.size() - 2 * fence,
            spans.get(0).getColumnIndex());
    CodeBlock last = blocks.get(blocks.size() - 1);
    blocks.set(blocks.size() - 1, last.withOutput(output));
    awaitsOutput = false;
    differs = false;
  }
}
