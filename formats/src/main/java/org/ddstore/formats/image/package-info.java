// SPDX-License-Identifier: Apache-2.0
/** Images, decoded to arrays of one shape. */
@Internal
package org.ddstore.formats.image;

import org.ddstore.types.Internal;
