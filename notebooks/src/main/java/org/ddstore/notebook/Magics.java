// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

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
      case "%%sql" -> sql(cell, parts.start(2), session);
      default -> throw unknown(cell, parts.group(1));
    };
  }

  private static CellResult sql(CellText cell, int start, SparkSession session)
      throws CellException {
    List<SqlStatement> statements = SqlStatement.split(cell.code(), start);
    if (statements.isEmpty()) {
      throw problem(cell, "%%sql has no statement: write SQL below it");
    }
    Dataset<Row> last = null;
    for (SqlStatement statement : statements) {
      try {
        last = session.sql(statement.text());
      } catch (Exception e) { // Spark throws checked exceptions that it does not declare
        throw new CodeFailure(e, new CellFrame("", cell, statement.offset(e)));
      }
    }
    return last.columns().length == 0 ? CellResult.NONE : new CellResult(true, last);
  }

  private static CellException unknown(CellText cell, String name) {
    return problem(cell, "unknown magic \"%s\", legal: %%help, %%%%sql".formatted(name));
  }

  private static CellException problem(CellText cell, String problem) {
    String message = "%s: %s".formatted(cell.linePlace(0), problem);
    return new CellException("MagicError", message, List.of(message), null);
  }
}
