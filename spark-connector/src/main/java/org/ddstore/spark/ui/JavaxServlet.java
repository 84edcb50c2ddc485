// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/** The pages as a servlet of Spark 3.5. Created by name. */
public final class JavaxServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // servlets are not serialized
  private final Pages pages;

  @SuppressWarnings("serial")
  private final SparkFrame frame;

  /** Creates the servlet; called by reflection. */
  JavaxServlet(Pages pages, SparkFrame frame) {
    this.pages = pages;
    this.frame = frame;
  }

  /** Refuses TRACE, as Spark's pages do. */
  @Override
  protected void doTrace(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.sendError(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Answer answer =
        pages.answer(
            request.getPathInfo(),
            request.getParameter("name"),
            content -> frame.around(request, content));
    response.setStatus(answer.status());
    response.setContentType(answer.type());
    response.setHeader("Cache-Control", "no-cache, no-store, must-revalidate");
    response.getWriter().write(answer.body());
  }
}
