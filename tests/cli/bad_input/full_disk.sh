# SPDX-License-Identifier: GPL-3.0-or-later
[ -e /dev/full ] || exit
for command in 'predict dsv4-flash-sparse-decode' 'predict dsv4-flash-sparse-decode --format json' 'devices' \
    'devices --format csv' 'help' 'curve dsv4-flash-sparse-decode'; do
    # shellcheck disable=SC2086
    "$OCCAM" $command > /dev/full
    echo "exit $?"
done
