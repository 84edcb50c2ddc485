// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One value in several forms, of which a front end shows the richest that it supports.
 *
 * @param data forms by MIME type: text, or base64 of binary types
 */
public record MimeBundle(Map<String, String> data) {
  private static final String TEXT = "text/plain";
  private static final String HTML = "text/html";

  /** Copies the forms, in their order. */
  public MimeBundle {
    data = Collections.unmodifiableMap(new LinkedHashMap<>(data));
  }

  /** Returns plain text. */
  public static MimeBundle text(String text) {
    return new MimeBundle(Map.of(TEXT, text));
  }

  /**
   * Returns HTML with plain text for other front ends.
   *
   * @param html HTML whose values are escaped
   */
  public static MimeBundle html(String text, String html) {
    return text(text).with(HTML, html);
  }

  /** Returns the same forms and one more. */
  MimeBundle with(String type, String form) {
    Map<String, String> all = new LinkedHashMap<>(data);
    all.put(type, form);
    return new MimeBundle(all);
  }

  /** Returns the same forms and a binary one. */
  MimeBundle with(String type, byte... form) {
    return with(type, Base64.getEncoder().encodeToString(form));
  }

  /** Returns the plain text. */
  public String text() {
    return data.getOrDefault(TEXT, "");
  }
}
