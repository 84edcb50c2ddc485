// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ui;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.UIUtils;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction0;
import scala.xml.Node;
import scala.xml.Unparsed;

/**
 * The frame of Spark's pages: style, theme, and the bar of tabs with that of the stores. The type
 * of requests and the number of parameters differ between releases, so the method is called by
 * name.
 */
final class SparkFrame {
  /** First part of the paths of the pages. */
  static final String PREFIX = "ddstore";

  private static final String METHOD = "headerSparkPage";
  private static final int CONTENT = 2;
  private static final int TAB = 3;

  private final SparkUITab tab;
  private final Method header;
  private final Object[] defaults;

  private SparkFrame(SparkUITab tab, Method header, Object[] defaults) {
    this.tab = tab;
    this.header = header;
    this.defaults = defaults;
  }

  /**
   * Returns the frame of an application.
   *
   * @throws ReflectiveOperationException if this release of Spark has no such method
   */
  static SparkFrame of(SparkUI ui) throws ReflectiveOperationException {
    Method header =
        Arrays.stream(UIUtils.class.getMethods())
            .filter(method -> method.getName().equals(METHOD))
            .findAny()
            .orElseThrow(() -> new NoSuchMethodException(METHOD));
    Class<?>[] types = header.getParameterTypes();
    Object[] defaults = new Object[types.length];
    for (int i = TAB + 1; i < types.length; i++) {
      defaults[i] = UIUtils.class.getMethod("%s$default$%d".formatted(METHOD, i + 1)).invoke(null);
    }
    if (types.length <= TAB
        || !types[CONTENT].isAssignableFrom(Content.class)
        || !types[TAB].isAssignableFrom(StoresTab.class)) {
      throw new NoSuchMethodException(header.toString());
    }
    return new SparkFrame(new StoresTab(ui), header, defaults);
  }

  SparkUITab tab() {
    return tab;
  }

  /** Returns a whole page around trusted HTML. */
  String around(Object request, String content) {
    Object[] arguments = defaults.clone();
    arguments[0] = request;
    arguments[1] = "Stores";
    arguments[CONTENT] = new Content(content);
    arguments[TAB] = tab;
    try {
      return "<!DOCTYPE html>" + ((Seq<?>) header.invoke(null, arguments)).mkString();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Spark's page header failed: " + e, e);
    }
  }

  /** The tab, which has no page of Spark's kind. */
  private static final class StoresTab extends SparkUITab {
    StoresTab(SparkUI ui) {
      super(ui, PREFIX);
    }

    @Override
    public String name() {
      return "DDStore";
    }
  }

  private static final class Content extends AbstractFunction0<Seq<Node>> {
    private final String html;

    Content(String html) {
      this.html = html;
    }

    @Override
    @SuppressWarnings("unchecked") // the empty list has elements of every type
    public Seq<Node> apply() {
      Seq<Node> none = (Seq<Node>) (Seq<?>) Nil$.MODULE$;
      return (Seq<Node>) none.appended(new Unparsed(html));
    }
  }
}
