// SPDX-License-Identifier: Apache-2.0
/** The tab "DDStore" in Spark's web pages, live and in the history server. */
@Internal
package org.ddstore.spark.ui;

import org.ddstore.types.Internal;
