// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Block;
import org.commonmark.node.Code;
import org.commonmark.node.CustomNode;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.HardLineBreak;
import org.commonmark.node.IndentedCodeBlock;
import org.commonmark.node.Node;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;

/** The text of a node without markup: words as a reader sees them, code included. */
final class PlainText extends AbstractVisitor {
  private final StringBuilder text = new StringBuilder();

  private PlainText() {}

  static String of(Node node) {
    PlainText visitor = new PlainText();
    node.accept(visitor);
    return visitor.text.toString();
  }

  @Override
  public void visit(Text node) {
    text.append(node.getLiteral());
  }

  @Override
  public void visit(Code node) {
    text.append(node.getLiteral());
  }

  @Override
  public void visit(FencedCodeBlock node) {
    text.append(node.getLiteral());
  }

  @Override
  public void visit(IndentedCodeBlock node) {
    text.append(node.getLiteral());
  }

  @Override
  public void visit(SoftLineBreak node) {
    text.append(' ');
  }

  @Override
  public void visit(HardLineBreak node) {
    text.append(' ');
  }

  @Override
  public void visit(CustomNode node) {
    visitChildren(node);
    if (node instanceof TableCell) {
      text.append(' ');
    }
  }

  /** Words of one block do not join those of the next. */
  @Override
  protected void visitChildren(Node parent) {
    super.visitChildren(parent);
    if (parent instanceof Block) {
      text.append(' ');
    }
  }
}
