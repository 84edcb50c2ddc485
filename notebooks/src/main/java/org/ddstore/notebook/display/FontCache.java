// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;

/**
 * The list of fonts that the JDK writes to the home of the user when it first draws text. A
 * notebook leaves nothing there. The property {@code user.home} is the only way to move the list:
 * {@code sun.font.FcFontConfiguration} makes the path from it, without another property or variable
 * that names a folder.
 */
final class FontCache {
  private static final String HOME = "user.home";

  private FontCache() {}

  /** Draws text for the first time in this JVM while the home does not exist. */
  static void avoid() {
    FirstText.DRAWN.flush();
  }

  /** Draws when it is loaded. */
  private static final class FirstText {
    static final BufferedImage DRAWN = drawn();

    private static BufferedImage drawn() {
      String home = System.getProperty(HOME);
      BufferedImage image = new BufferedImage(8, 8, BufferedImage.TYPE_INT_RGB);
      System.setProperty(HOME, "/dev/null");
      try {
        Graphics2D graphics = image.createGraphics();
        graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 8));
        graphics.drawString("a", 0, 8);
        graphics.dispose();
      } finally {
        System.setProperty(HOME, home);
      }
      return image;
    }
  }
}
