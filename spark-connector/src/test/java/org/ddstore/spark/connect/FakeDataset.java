// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.connect;

/** Named as Spark Connect's classes are; its client cannot be on this class path, too. */
public final class FakeDataset {}
