// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** The pages as a servlet of Spark 4. Created by name. */
public final class JakartaServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // servlets are not serialized
  private final Pages pages;

  @SuppressWarnings("serial")
  private final SparkFrame frame;

  /** Creates the servlet; called by reflection. */
  JakartaServlet(Pages pages, SparkFrame frame) {
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
