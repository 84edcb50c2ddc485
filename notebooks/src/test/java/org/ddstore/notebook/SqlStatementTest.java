// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SqlStatementTest {
  private static final String CELL =
      "%%sql\n-- first; comment\nselect ';', \"a;\\\"\", `b;`;\n/* x; */\n select 1\n  from t -- end;\n;;";

  private static List<SqlStatement> split(String code) {
    return SqlStatement.split(code, "%%sql".length());
  }

  @Test
  void splitsAtSemicolonsOutsideOfTextAndComments() {
    assertThat(split(CELL))
        .extracting(SqlStatement::text)
        .containsExactly("select ';', \"a;\\\"\", `b;`", "select 1\n  from t -- end;");
    assertThat(split("%%sql \n -- nothing")).isEmpty();
    assertThat(split("%%sql select 'open"))
        .extracting(SqlStatement::text)
        .containsExactly("select 'open");
  }

  @Test
  void findsThePlaceThatSparkNames() {
    SqlStatement second = split(CELL).get(1);
    int place = second.offset(new IllegalArgumentException("not found; line 2 pos 7; plan"));
    assertThat(CELL.substring(place)).startsWith("t -- end");
    assertThat(second.offset(new IllegalArgumentException())).isEqualTo(second.offset());
  }
}
