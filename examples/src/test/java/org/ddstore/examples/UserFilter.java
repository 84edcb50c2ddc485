// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;

/** A filter of Spark's UI that takes the user from a header, as one that logs users in does. */
public final class UserFilter implements Filter {
  static final String HEADER = "X-User";

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    HttpServletRequest http = (HttpServletRequest) request;
    chain.doFilter(
        new HttpServletRequestWrapper(http) {
          @Override
          public String getRemoteUser() {
            return http.getHeader(HEADER);
          }
        },
        response);
  }
}
