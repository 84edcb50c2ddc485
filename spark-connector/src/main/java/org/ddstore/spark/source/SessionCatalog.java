// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import org.ddstore.spark.types.OptionKeys;
import scala.Option;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Gives every session of an application the catalog {@code ddstore}, unless the user has set one of
 * this name. Spark finds and runs it, through {@link java.util.ServiceLoader}, before it creates
 * the first session.
 */
public final class SessionCatalog extends AbstractFunction1<SparkSessionExtensions, BoxedUnit>
    implements SparkSessionExtensionsProvider {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    Option<SparkContext> context = SparkContext$.MODULE$.getActive();
    if (context.isDefined()) {
      context.get().conf().setIfMissing(OptionKeys.SQL_CATALOG, DDStoreCatalog.class.getName());
    }
    return BoxedUnit.UNIT;
  }
}
