// SPDX-License-Identifier: Apache-2.0
/** Not for users. */
@Internal
package org.ddstore.architecture.sample.leak.hidden;

import org.ddstore.types.Internal;
