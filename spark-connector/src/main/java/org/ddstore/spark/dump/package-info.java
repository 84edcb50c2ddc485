// SPDX-License-Identifier: Apache-2.0
/** Dumps of resident stores: their directory, data files and manifest, for writing and reading. */
@Internal
package org.ddstore.spark.dump;

import org.ddstore.types.Internal;
