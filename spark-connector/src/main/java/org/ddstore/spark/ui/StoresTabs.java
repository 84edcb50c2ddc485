// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.spark.SparkContext;
import org.apache.spark.ui.SparkUI;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.monitor.MonitorView;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Adds the tab "DDStore" to the web pages of applications. */
public final class StoresTabs {
  private static final Logger LOG = LoggerFactory.getLogger(StoresTabs.class);
  private static final int HANDLER_PARAMETERS = 3;

  private StoresTabs() {}

  /**
   * Returns {@code spark.ddstore.ui.enabled} of an application.
   *
   * @throws IllegalArgumentException if the setting is neither true nor false
   */
  public static boolean isEnabled(SparkContext context) {
    String enabled = context.getConf().get(Setting.UI.key(), Setting.UI.defaultText());
    return Boolean.parseBoolean(Setting.UI.checked(enabled));
  }

  /** Adds the tab to the pages of a running application, if it has pages. Logs a failure. */
  public static void attach(SparkContext context, MonitorView monitor) {
    if (context.ui().isDefined()) {
      attach(context.ui().get(), new LiveSource(monitor));
    }
  }

  /** Adds the tab to the pages of an application that runs or has ended. Logs a failure. */
  static void attach(SparkUI ui, PageSource source) {
    try {
      SparkFrame frame = SparkFrame.of(ui);
      Method attachHandler =
          Arrays.stream(SparkUI.class.getMethods())
              .filter(method -> method.getName().equals("attachHandler"))
              .filter(method -> method.getParameterCount() == HANDLER_PARAMETERS)
              .findAny()
              .orElseThrow(() -> new NoSuchMethodException("attachHandler"));
      String kind = attachHandler.getParameterTypes()[1].getName().split("\\.", 2)[0];
      Constructor<?> servlet =
          Class.forName(
                  kind.equals("javax")
                      ? "org.ddstore.spark.ui.JavaxServlet"
                      : "org.ddstore.spark.ui.JakartaServlet")
              .getDeclaredConstructor(Pages.class, SparkFrame.class);
      attachHandler.invoke(
          ui,
          ui.basePath() + "/" + SparkFrame.PREFIX,
          servlet.newInstance(new Pages(source), frame),
          "/*");
      ui.attachTab(frame.tab());
    } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
      LOG.warn("Spark's UI shows no tab of stores: {}", e.toString());
      LOG.debug("no tab", e);
    }
  }
}
