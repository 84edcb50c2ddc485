// SPDX-License-Identifier: Apache-2.0
/** What the driver knows of the reads and changes of resident stores: events and history. */
@Internal
package org.ddstore.spark.monitor;

import org.ddstore.types.Internal;
