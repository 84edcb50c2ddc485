// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.ddstore.notebook.display.MimeBundle;

/** Cells that are not Java: their first line begins with {@code %}. */
final class Magics {
  private static final Pattern FIRST_LINE =
      Pattern.compile("\\s*(%%?\\w*)([^\\n]*)(?:\\n(?s:(.*)))?");
  private static final Pattern SQL_TOKEN =
      Pattern.compile(
          "--[^\\n]*|/\\*(?s:.*?)\\*/|'(?s:\\\\.|[^'\\\\])*'|\"(?s:\\\\.|[^\"\\\\])*\"|`[^`]*`"
              + "|(?<end>;)|(?s:.)");
  private static final String HELP =
      """
      %help   prints this text
      %%sql   runs the rest of the cell as SQL: statements that ; separates. Shows the result of the last one.

      spark            the session of Spark
      display(value)   shows a value: a DataFrame, a store, a batch, a schema, a chart, an image

      The value of the last expression of a cell is shown, unless a semicolon ends it.
      A lambda that goes to executors gets the values that the variables of the notebook have when the lambda is created.""";

  private Magics() {}

  static boolean isMagic(String code) {
    return code.stripLeading().startsWith("%");
  }

  /**
   * Runs the cell.
   *
   * @throws CellException if there is no such magic
   */
  static CellResult run(CellText cell, SparkSession session) throws CellException {
    Matcher parts = FIRST_LINE.matcher(cell.code());
    if (!parts.matches()) {
      throw unknown(cell, cell.code().strip());
    }
    String rest = parts.group(3) == null ? "" : parts.group(3);
    boolean hasArguments = !parts.group(2).isBlank();
    return switch (parts.group(1)) {
      case "%help" -> {
        if (hasArguments || !rest.isBlank()) {
          throw problem(cell, "%help stands alone in its cell");
        }
        yield new CellResult(true, MimeBundle.text(HELP));
      }
      case "%%sql" -> sql(cell, parts.group(2) + "\n" + rest, session);
      default -> throw unknown(cell, parts.group(1));
    };
  }

  private static CellResult sql(CellText cell, String text, SparkSession session)
      throws CellException {
    List<String> statements = statements(text);
    if (statements.isEmpty()) {
      throw problem(cell, "%%sql has no statement: write SQL below it");
    }
    Dataset<Row> last = null;
    for (String statement : statements) {
      last = session.sql(statement);
    }
    return last.columns().length == 0 ? CellResult.NONE : new CellResult(true, last);
  }

  /** Splits SQL at its semicolons; leaves out comments. */
  static List<String> statements(String text) {
    List<String> statements = new ArrayList<>();
    StringBuilder statement = new StringBuilder();
    for (Matcher token = SQL_TOKEN.matcher(text); token.find(); ) {
      String found = token.group();
      if (token.group("end") != null) {
        statements.add(statement.toString());
        statement.setLength(0);
      } else if (!found.startsWith("--") && !(found.startsWith("/*") && found.length() > 2)) {
        statement.append(found);
      }
    }
    statements.add(statement.toString());
    return statements.stream().map(String::strip).filter(each -> !each.isEmpty()).toList();
  }

  private static CellException unknown(CellText cell, String name) {
    return problem(cell, "unknown magic \"%s\", legal: %%help, %%%%sql".formatted(name));
  }

  private static CellException problem(CellText cell, String problem) {
    String message = "%s: %s".formatted(cell.linePlace(0), problem);
    return new CellException("MagicError", message, List.of(message), null);
  }
}
